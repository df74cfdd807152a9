"""What a text is made of: scripts, words, languages by name, prose or something else. All pure."""
