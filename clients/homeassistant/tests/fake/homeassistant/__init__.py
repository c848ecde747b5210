"""The interfaces of Home Assistant that the integration uses, as its developer documentation describes them, for tests without Home
Assistant. Signatures follow the documentation, so a call with another argument fails. Nothing here shows that the real ones behave
likewise."""
