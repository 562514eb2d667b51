drop table "{partition}"
