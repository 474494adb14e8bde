"""Where blocks are played: in this process, or by Ray actors."""
