"""The numbered migrations, as SQL files."""
