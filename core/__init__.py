"""Contracts, tool-answer forms, token costs, selection, pages and git object access.

Import from the modules themselves, such as ``from firstpage.core.items import Item``: nothing is imported
here, so that a command that needs no numbers does not wait for numpy.
"""
