"""The stand-in for the model: answers what it reads in the slots, from a small grammar."""
