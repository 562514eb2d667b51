-- Always one row.
{generation_facts}
