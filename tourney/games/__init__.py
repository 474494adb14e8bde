"""The rules of the games, and nothing else: values in, values out."""
