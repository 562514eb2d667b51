-- The jobs `j` of an owner, and the active and paused ones that name a calendar; null: all.
(:owner::text is null or j.owner = :owner)
  and (
      :calendar::text is null
      or j.status in ('ACTIVE', 'PAUSED')
      and j.definition -> 'policies' -> 'calendars' @> jsonb_build_array(jsonb_build_object('calendar', :calendar::text))
  )
