SELECT name, id FROM users WHERE id = ?1;
