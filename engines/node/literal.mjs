/* Values as SQL literals, for answers that are shown to a reader; src/base/literal.h. */

/* The shortest of 15 to 17 digits that gives the number back, as C's %g writes it. */
function real_literal(value) {
    if (Number.isNaN(value)) {
        return 'NaN';
    }
    if (!Number.isFinite(value)) {
        return value < 0 ? '-9e999' : '9e999';
    }
    let digits = 15;
    while (digits < 17 && Number(value.toPrecision(digits)) !== value) {
        digits++;
    }
    const [mantissa, exponent] = value.toExponential(digits - 1).split('e');
    const power = Number(exponent);
    const sign = Object.is(value, -0) ? '-' : '';
    const cut = (text) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
    if (power < -4 || power >= digits) {
        const size = String(Math.abs(power)).padStart(2, '0');
        return `${cut(mantissa)}e${power < 0 ? '-' : '+'}${size}`;
    }
    const text = sign + cut(value.toFixed(Math.min(100, Math.max(0, digits - 1 - power))));
    return text.includes('.') ? text : text + '.0';
}

function blob_literal(bytes) {
    return `x'${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}'`;
}

function text_literal(text) {
    return text.includes('\0') ? `CAST(${blob_literal(Buffer.from(text, 'utf8'))} AS TEXT)`
                               : `'${text.replaceAll("'", "''")}'`;
}

/* A whole number is shown as an integer: JavaScript does not know the other kind apart. */
export function literal(value) {
    switch (typeof value) {
    case 'number':
        return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value)
                                                                    : real_literal(value);
    case 'bigint':
        return value.toString();
    case 'string':
        return text_literal(value);
    default:
        return value === null || value === undefined ? 'NULL' : blob_literal(value);
    }
}

/* More bytes than the literals of these values take. */
export function literals_size(values) {
    let size = 4;
    for (const value of values) {
        const bytes = typeof value === 'string' ? value.length * 3
                      : value instanceof Uint8Array ? value.length : -1;
        size += bytes < 0 ? 24 : 2 * bytes + 16;
    }
    return size;
}
