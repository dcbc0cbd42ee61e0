/*
 * Turns a script into a function that draws one operation: a flat list of calls with the values
 * they bind. docs/script-language.md, "For those who write a worker", says what it must give.
 *
 * The tree becomes JavaScript text that is compiled once, since a walk over it would cost more
 * than a short statement takes. Only numbers, indexes and JSON literals are put into that text,
 * of a tree that script.mjs has checked; no name of a script ever is. The scale's variables are
 * constants in it, those of `set` local variables.
 *
 * Integers are doubles within ±(2^53 - 1) and never a negative zero: `+ 0` makes a plain one of
 * it. Where a sum or a product is beyond, the double that stands for it is, too.
 */
import { INTEGER_MAX } from './script.mjs';

export const CALL_BEGIN_READ = -1;
export const CALL_BEGIN_WRITE = -2;
export const CALL_COMMIT = -3;

const CALLS_MAX = 1000000;
const TEXT_LENGTH_MAX = 1000000;
const TEXT_TOTAL_MAX = 64 * 1024 * 1024;

/* A mistake in a script's arithmetic. */
export class EvaluationError extends Error {
    constructor(message, line, column) {
        super(message);
        this.name = 'EvaluationError';
        this.place = [line, column];
    }
}

/* ---- what the compiled text calls -------------------------------------------------- */

function fail(message, line, column) {
    throw new EvaluationError(message, line, column);
}

const helpers = {
    fail,

    integer(value, line, column) {
        return value <= INTEGER_MAX && value >= -INTEGER_MAX ? value + 0
            : fail('overflow: integers lie within ±9007199254740991 (2^53 - 1)', line, column);
    },

    finite(value, line, column) {
        return Number.isFinite(value) ? value
            : fail('overflow: a double beyond 1.797e308', line, column);
    },

    divisor(value, line, column) {
        return value === 0 ? fail('division by zero', line, column) : value;
    },

    quotient(a, b) {
        return (a - (a % b)) / b + 0;
    },

    /* Half to even, as C's rint() and pgbench do. */
    rounded(value, line, column) {
        const below = Math.floor(value);
        const rest = value - below;
        const whole = rest < 0.5 || (rest === 0.5 && below % 2 === 0) ? below : below + 1;
        return whole <= INTEGER_MAX && whole >= -INTEGER_MAX ? whole + 0
            : fail('overflow: int() of a number beyond ±9007199254740991 (2^53 - 1)',
                   line, column);
    },

    range(lo, hi, line, column) {
        return lo > hi ? fail('empty range: the low end is above the high', line, column) : lo;
    },

    gaussian(value, line, column) {
        return value >= 2 ? value
            : fail('the last argument of random_gaussian() must be at least 2.0', line, column);
    },

    exponential(value, line, column) {
        return value > 0 ? value
            : fail('the last argument of random_exponential() must be greater than 0',
                   line, column);
    },

    zipfian(value, line, column) {
        return value >= 1.001 && value <= 1000 ? value
            : fail('the last argument of random_zipfian() must lie in 1.001 to 1000', line, column);
    },

    /* An end of a range instead of a draw: `low`, `high`, or one beyond. */
    end(ends, lo, hi) {
        return ends === 'low' ? lo : ends === 'high' || hi >= INTEGER_MAX ? hi : hi + 1;
    },

    padded(value, width) {
        return value < 0 ? '-' + String(-value).padStart(width - 1, '0')
                         : String(value).padStart(width, '0');
    },

    characters(text) {
        let count = 0;
        for (let i = 0; i < text.length; i++) {
            count += (text.charCodeAt(i) & 0xFC00) === 0xDC00 ? 0 : 1;
        }
        return count;
    },

    /* `total` and the bytes of a new text; a short one's characters are near enough. */
    text_size(text, total, line, column) {
        const size = text.length * 3 <= TEXT_LENGTH_MAX ? text.length
                                                        : Buffer.byteLength(text, 'utf8');
        return size > TEXT_LENGTH_MAX || total + size > TEXT_TOTAL_MAX
            ? fail('texts too long: one has at most 1,000,000 bytes, those of one operation 64 MiB',
                   line, column)
            : total + size;
    },

    many_calls(line, column) {
        fail('more than 1,000,000 calls in one operation', line, column);
    },

    many_turns(line, column) {
        fail('more than 1,000,000 turns of \\repeat in one operation', line, column);
    },
};

/* ---- expressions ------------------------------------------------------------------- */

const COMPARE = {
    equal: '===', not_equal: '!==', less: '<', less_equal: '<=', greater: '>', greater_equal: '>=',
};
const ARITHMETIC = { add: '+', subtract: '-', multiply: '*' };

/* Writes the text of one drawing function. `ends`: draws are taken at the ends of ranges. */
class Writer {
    constructor(script, given, values, ends) {
        this.script = script;
        this.given = given;   /* bigint, keep */
        this.values = values; /* of variables from elsewhere, by index */
        this.ends = ends;
        this.temporaries = 0;
    }

    temporary() {
        return `t${this.temporaries++}`;
    }

    variable(index) {
        const { name, from } = this.script.variables[index];
        if (from === 'set' || name === 'row') {
            return `v${index}`;
        }
        return name === 'op' && from === 'builtin' ? 'op' : `(${this.values[index]})`;
    }

    expression(e) {
        switch (e.op) {
        case 'constant':
            return e.type === 'text' ? JSON.stringify(e.value)
                 : Object.is(e.value, -0) ? '(-0)' : `(${e.value})`;
        case 'variable':
            return this.variable(e.variable);
        case 'negate':
            return e.type === 'integer' ? `(0 - ${this.expression(e.arguments[0])})`
                                        : `(-${this.expression(e.arguments[0])})`;
        case 'add':
        case 'subtract':
        case 'multiply':
        case 'divide':
        case 'modulo':
            return this.arithmetic(e);
        case 'if': {
            const [condition, yes, no] = e.arguments.map((argument) => this.expression(argument));
            return `(${condition} !== 0 ? ${yes} : ${no})`;
        }
        case 'choice':
            return this.choice(e);
        case 'format':
            return this.format(e);
        case 'length':
            return `h.characters(${this.expression(e.arguments[0])})`;
        case 'min':
        case 'max':
            return this.extreme(e);
        case 'int':
            return e.arguments[0].type === 'integer' ? this.expression(e.arguments[0])
                : `h.rounded(${this.expression(e.arguments[0])}, ${e.place})`;
        case 'double':
            return this.expression(e.arguments[0]);
        case 'random':
            return this.random(e);
        case 'random_gaussian':
        case 'random_exponential':
        case 'random_zipfian':
            return this.shaped(e, e.op.slice('random_'.length));
        default:
            return `(${this.expression(e.arguments[0])} ${COMPARE[e.op]} ` +
                   `${this.expression(e.arguments[1])} ? 1 : 0)`;
        }
    }

    arithmetic(e) {
        const [a, b] = e.arguments.map((argument) => this.expression(argument));
        if (e.op === 'modulo') {
            return `(${a} % h.divisor(${b}, ${e.place}) + 0)`;
        }
        if (e.op === 'divide') {
            const divisor = `h.divisor(${b}, ${e.place})`;
            return e.type === 'integer' ? `h.quotient(${a}, ${divisor})`
                                        : `h.finite(${a} / ${divisor}, ${e.place})`;
        }
        const check = e.type === 'integer' ? 'integer' : 'finite';
        return `h.${check}(${a} ${ARITHMETIC[e.op]} ${b}, ${e.place})`;
    }

    /* The first of equal values is kept. */
    extreme(e) {
        const sign = e.op === 'min' ? '<' : '>';
        let text = this.expression(e.arguments[0]);
        for (const argument of e.arguments.slice(1)) {
            const kept = this.temporary();
            const other = this.temporary();
            text = `(${kept} = ${text}, ${other} = ${this.expression(argument)}, ` +
                   `${other} ${sign} ${kept} ? ${other} : ${kept})`;
        }
        return text;
    }

    /* Only the argument that is drawn is evaluated: found by halving. */
    choice(e) {
        const count = e.arguments.length;
        const drawn = this.temporary();
        const draw = this.ends ? `ends === 'low' ? 0 : ${count - 1}` : `random.below(${count})`;
        const half = (from, to) => {
            if (from === to) {
                return this.expression(e.arguments[from]);
            }
            const middle = Math.floor((from + to) / 2);
            return `(${drawn} <= ${middle} ? ${half(from, middle)} : ${half(middle + 1, to)})`;
        };
        return `(${drawn} = ${draw}, ${half(0, count - 1)})`;
    }

    /* join() makes one piece of memory; with + the binding would have to, while it is timed. */
    format(e) {
        let argument = 1;
        const parts = e.pieces.map((piece) => {
            if (typeof piece === 'string') {
                return JSON.stringify(piece);
            }
            const value = this.expression(e.arguments[argument++]);
            return piece.hex ? `${value}.toString(16)`
                 : piece.width > 0 ? `h.padded(${value}, ${piece.width})` : `${value}`;
        });
        const made = this.temporary();
        return `(${made} = ['', ${parts.join(', ')}].join(''), ` +
               `total = h.text_size(${made}, total, ${e.place}), ${made})`;
    }

    random(e) {
        const [lo, hi] = e.arguments;
        const constant = this.fixed(lo) !== null && this.fixed(hi) !== null;
        if (constant && !this.ends && this.fixed(lo) <= this.fixed(hi)) {
            const distance = this.fixed(hi) - this.fixed(lo);
            return distance < 4294967296 ? `(${this.fixed(lo)} + random.below(${distance + 1}))`
                                         : `random.range(${this.fixed(lo)}, ${this.fixed(hi)})`;
        }
        const low = this.temporary();
        const high = this.temporary();
        const draw = this.ends ? `h.end(ends, ${low}, ${high})` : `random.range(${low}, ${high})`;
        return `(${low} = ${this.expression(lo)}, ${high} = ${this.expression(hi)}, ` +
               `h.range(${low}, ${high}, ${e.place}), ${draw})`;
    }

    shaped(e, name) {
        const [lo, hi, parameter] = e.arguments;
        const [low, high, shape] = [this.temporary(), this.temporary(), this.temporary()];
        const draw = this.ends ? `h.end(ends, ${low}, ${high})`
                               : `random.${name}(${low}, ${high}, ${shape})`;
        return `(${low} = ${this.expression(lo)}, ${high} = ${this.expression(hi)}, ` +
               `h.range(${low}, ${high}, ${e.place}), ` +
               `${shape} = h.${name}(${this.expression(parameter)}, ${parameter.place}), ${draw})`;
    }

    /* The number that an expression always is; null: it must be evaluated. */
    fixed(e) {
        if (e.op === 'constant') {
            return e.value;
        }
        const known = e.op === 'variable' && this.script.variables[e.variable].from === 'scale';
        return known ? this.values[e.variable] : null;
    }

    /* ---- steps ---------------------------------------------------------------------- */

    call(step, code) {
        return `if (n === ${CALLS_MAX}) h.many_calls(${step.place});\ncalls[n++] = ${code};\n`;
    }

    statement(step) {
        const { parameters } = this.script.statements[step.statement];
        return this.call(step, step.statement) + parameters.map((variable) => {
            const value = this.variable(variable);
            const integer = this.script.variables[variable].type === 'integer';
            return `values[m++] = ${this.given.bigint && integer ? `BigInt(${value})` : value};\n`;
        }).join('');
    }

    repeat(step) {
        const count = this.temporary();
        const turn = this.temporary();
        const assign = step.variable === null ? '' : `v${step.variable} = ${turn};\n`;
        return `${count} = ${this.expression(step.count)};\n` +
               `if (${count} < 0) h.fail('a negative count of \\\\repeat', ${step.place});\n` +
               `for (let ${turn} = 1; ${turn} <= ${count}; ${turn}++) {\n` +
               `if (++turns > ${CALLS_MAX}) h.many_turns(${step.place});\n` +
               `${assign}${this.steps(step.steps)}}\n`;
    }

    /* Rows one by one, without the transactions that a load makes around them. */
    rows(step) {
        const count = this.temporary();
        const row = this.script.variables.findIndex((variable) => variable.name === 'row' &&
                                                                  variable.from === 'builtin');
        const turn = this.temporary();
        return `${count} = ${this.expression(step.count)};\n${this.expression(step.chunk)};\n` +
               `for (let ${turn} = 1; ${turn} <= ${count}; ${turn}++) {\n` +
               `${row < 0 ? '' : `v${row} = ${turn};\n`}${this.steps(step.steps)}}\n`;
    }

    steps(steps) {
        return steps.map((step) => {
            switch (step.step) {
            case 'set':
                return `v${step.variable} = ${this.expression(step.expression)};\n`;
            case 'statement':
                return this.statement(step);
            case 'begin_read':
                return this.call(step, CALL_BEGIN_READ);
            case 'begin_write':
                return this.call(step, CALL_BEGIN_WRITE);
            case 'commit':
                return this.call(step, CALL_COMMIT);
            case 'repeat':
                return this.repeat(step);
            default:
                return this.rows(step);
            }
        }).join('');
    }

    /* The whole function. With `keep` it stores what the variables were last set to. */
    drawing() {
        const body = this.steps(this.script.steps);
        const zero = { integer: '0', double: '0', text: "''" };
        const locals = this.script.variables.map((variable, i) => `v${i} = ${zero[variable.type]}`);
        const temporaries = Array.from({ length: this.temporaries }, (_, i) => `t${i} = 0`);
        const names = [...locals, ...temporaries, 'n = 0', 'm = 0', 'turns = 0', 'total = 0'];
        const kept = this.script.variables.map((_, i) => this.variable(i));
        const keep = `last[0] = [${kept.join(', ')}];`;
        return '"use strict";\nreturn function draw(op, random, ends) {\n' +
               `let ${names.join(', ')};\n` +
               (this.given.keep ? `try {\n${body}} finally {\n${keep}\n}\n` : body) +
               'return n;\n};';
    }
}

/* ---- the interface ------------------------------------------------------------------ */

function value_of(script, variable, { variables, connection, connections }) {
    if (variable.from === 'builtin') {
        return { connection, connections }[variable.name] ?? 0;
    }
    if (variable.from === 'scale' && !Object.hasOwn(variables, variable.name)) {
        throw new EvaluationError(`script ${script.name}: the scale gives no value for ` +
                                  `:${variable.name}`, 0, 0);
    }
    return variable.from === 'scale' ? variables[variable.name] : 0;
}

/* One script on one connection. `calls` holds indexes of statements and CALL_…, the first `count`
 * are the operation that was drawn last; `values` all that its statements bind, in order. */
export class Evaluation {
    #given;
    #foreign;
    #draw;
    #draw_ends = null;
    #last = [null];

    /* `given`: variables (of the scale), connection, connections; bigint: integers are bound as
     * BigInt; keep: `last` is wanted. */
    constructor(script, given) {
        this.script = script;
        this.calls = [];
        this.values = [];
        this.count = 0;
        this.#given = { bigint: given.bigint === true, keep: given.keep === true };
        this.#foreign = script.variables.map((variable) => value_of(script, variable, given));
        this.#draw = this.#compile(false);
    }

    #compile(ends) {
        const text = new Writer(this.script, this.#given, this.#foreign, ends).drawing();
        return new Function('h', 'calls', 'values', 'last', text)(helpers, this.calls, this.values,
                                                                  this.#last);
    }

    /* Draws the operation number `op`. `draw`: random, low, high or beyond. */
    draw(op, random, draw = 'random') {
        if (draw === 'random') {
            this.count = this.#draw(op, random, draw);
        } else {
            this.#draw_ends ??= this.#compile(true);
            this.count = this.#draw_ends(op, random, draw);
        }
    }

    /* What the variables were last set to, by index. */
    get last() {
        return this.#last[0];
    }
}
