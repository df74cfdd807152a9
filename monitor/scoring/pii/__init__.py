"""Personal data and secrets in an answer, found with Presidio and vouched for by format.

``instrument`` builds what finds them and is the only module here that loads Presidio; the others
are plain, and the check of the signal uses them too.
"""
