/*
 * One text, two functions. Bindings with promises and bindings without need the same loop once with
 * `await` and once without: an await of something that is no promise costs more than a short
 * statement, and two texts would drift apart. So the loop is written once, as an async function,
 * and its synchronous twin is made of its own text.
 *
 * Such a function uses nothing but its arguments and globals, and has `async` and `await` nowhere
 * but as words of the language.
 */
export function twin(f) {
    const text = f.toString().replace(/\basync /g, '').replace(/\bawait /g, '');
    return { asynchronous: f, synchronous: new Function(`"use strict"; return (${text});`)() };
}
