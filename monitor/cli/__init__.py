"""The ``davylamp`` command. One module a verb, imported only when that verb is used."""
