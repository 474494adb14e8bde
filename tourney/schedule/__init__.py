"""Who meets whom, on which deal, in which seats; and what to do next. Pure: no clock, no worker."""
