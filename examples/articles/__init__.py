"""Articles: submitted, audited by a third party, published at a time that their authors may change at any moment."""
