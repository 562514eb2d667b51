comment on table "{partition}" is 'horae drops this table'
