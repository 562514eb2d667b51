-- The `scanned` rows that a list asks for.
select * from scanned s
where (:states::text[] = '{}' or s.state = any(:states))
  and (:business_key::text is null or s.business_key = :business_key)
