"""Rules for devices: which candidates make up a resource, who gets each, and why others do not.

Pure, like all of the domain: a scanner shows candidates and is told what else to look at.
"""
