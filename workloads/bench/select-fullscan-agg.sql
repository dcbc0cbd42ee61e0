SELECT count(*), avg(age) FROM users;
