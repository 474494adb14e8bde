"""What several tests of packages start from."""

MANIFEST = '[bot]\nname = "queen-keeper"\ngames = ["dam"]\nrun = ["python3", "bot.py"]\n'
