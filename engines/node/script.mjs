/*
 * Reads the tree of a compiled script (docs/worker-protocol.md, "Compiled scripts"). It comes over
 * a pipe from another program: every index, type, number and depth is checked here, since
 * evaluate.mjs makes program text of what this lets through.
 */
import { Failure } from './failure.mjs';

export const INTEGER_MAX = Number.MAX_SAFE_INTEGER;
const EXPRESSION_DEPTH_MAX = 100;
const BLOCK_DEPTH_MAX = 16;
const FORMAT_ARGUMENTS_MAX = 16;
const MANY = 100000;
const TYPES = ['integer', 'double', 'text'];
const ORIGINS = ['set', 'scale', 'builtin'];

/* Kinds of arguments: i integer, n number, t text, a any, s any, but all of one type. `type` is
 * the result's: null where it follows from the arguments. */
const OPERATIONS = {
    negate: { least: 1, most: 1, kinds: 'n', type: null },
    add: { least: 2, most: 2, kinds: 'nn', type: null },
    subtract: { least: 2, most: 2, kinds: 'nn', type: null },
    multiply: { least: 2, most: 2, kinds: 'nn', type: null },
    divide: { least: 2, most: 2, kinds: 'nn', type: null },
    modulo: { least: 2, most: 2, kinds: 'ii', type: 'integer' },
    equal: { least: 2, most: 2, kinds: 'aa', type: 'integer' },
    not_equal: { least: 2, most: 2, kinds: 'aa', type: 'integer' },
    less: { least: 2, most: 2, kinds: 'nn', type: 'integer' },
    less_equal: { least: 2, most: 2, kinds: 'nn', type: 'integer' },
    greater: { least: 2, most: 2, kinds: 'nn', type: 'integer' },
    greater_equal: { least: 2, most: 2, kinds: 'nn', type: 'integer' },
    if: { least: 3, most: 3, kinds: 'iss', type: null },
    choice: { least: 1, most: MANY, kinds: 's', type: null },
    format: { least: 1, most: 1 + FORMAT_ARGUMENTS_MAX, kinds: 'ta', type: 'text' },
    length: { least: 1, most: 1, kinds: 't', type: 'integer' },
    min: { least: 1, most: MANY, kinds: 's', type: null },
    max: { least: 1, most: MANY, kinds: 's', type: null },
    int: { least: 1, most: 1, kinds: 'n', type: 'integer' },
    double: { least: 1, most: 1, kinds: 'n', type: 'double' },
    random: { least: 2, most: 2, kinds: 'ii', type: 'integer' },
    random_gaussian: { least: 3, most: 3, kinds: 'iin', type: 'integer' },
    random_exponential: { least: 3, most: 3, kinds: 'iin', type: 'integer' },
    random_zipfian: { least: 3, most: 3, kinds: 'iin', type: 'integer' },
};

function bad(message) {
    return new Failure('job', `script tree: ${message}`);
}

function is_object(value) {
    return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function array(object, key, where) {
    if (!is_object(object) || !Array.isArray(object[key])) {
        throw bad(`${key} of ${where} is no list`);
    }
    return object[key];
}

function text(object, key, where) {
    if (!is_object(object) || typeof object[key] !== 'string') {
        throw bad(`${key} of ${where} is no text`);
    }
    return object[key];
}

function index(object, key, where, count) {
    const value = object[key];
    if (!Number.isInteger(value) || value < 0 || value >= count) {
        throw bad(`${key} of ${where} is ${JSON.stringify(value)}, there are ${count}`);
    }
    return value;
}

function place_of(object, where) {
    const place = array(object, 'place', where);
    if (place.length !== 2 || !place.every((n) => Number.isInteger(n) && n >= 1)) {
        throw bad(`the place of ${where} is not [line, column]`);
    }
    return place;
}

/* ---- expressions ------------------------------------------------------------------ */

/* The pieces of a format: a text, or {width} for %d, {hex} for %x, {any} for %s. */
export function format_pieces(format) {
    const pieces = [];
    for (const part of format.split(/(%(?:0\d+)?[\s\S]?)/u)) {
        const match = /^%(?:0(\d+))?([\s\S]?)$/u.exec(part);
        const width = match === null || match[1] === undefined ? 0 : Number(match[1]);
        if (match === null) {
            pieces.push(part);
        } else if (match[2] === 'd' && (match[1] === undefined || (width >= 1 && width <= 99))) {
            pieces.push({ width });
        } else if (match[1] === undefined && match[2] === 'x') {
            pieces.push({ hex: true });
        } else if (match[1] === undefined && match[2] === 's') {
            pieces.push({ any: true });
        } else if (match[1] === undefined && match[2] === '%') {
            pieces.push('%');
        } else {
            throw bad(`format() knows %d, %0Nd (N from 1 to 99), %s, %x and %%, not ${part}`);
        }
    }
    return pieces.filter((piece) => piece !== '');
}

function check_format(e) {
    const [format, ...values] = e.arguments;
    if (format.op !== 'constant') {
        throw bad("the first argument of format() is a literal '…'");
    }
    e.pieces = format_pieces(format.value);
    const directives = e.pieces.filter((piece) => typeof piece !== 'string');
    const fits = directives.length === values.length && directives.every((piece, i) =>
        values[i].type === 'integer' || (piece.any === true && values[i].type === 'text'));
    if (!fits) {
        throw bad(`directives and arguments of format() at ${e.place.join(':')} do not fit`);
    }
}

function check_kinds(e, kinds) {
    e.arguments.forEach((argument, i) => {
        const kind = kinds[Math.min(i, kinds.length - 1)];
        const good = kind === 'i' ? argument.type === 'integer'
                   : kind === 'n' ? argument.type !== 'text'
                   : kind === 't' ? argument.type === 'text'
                   : kind === 's' ? argument.type === e.arguments.at(-1).type : true;
        if (!good) {
            throw bad(`argument ${i + 1} of ${e.op} at ${argument.place.join(':')} is of type ` +
                      `${argument.type}, which it does not take`);
        }
    });
    if ((e.op === 'equal' || e.op === 'not_equal') &&
        (e.arguments[0].type === 'text') !== (e.arguments[1].type === 'text')) {
        throw bad(`${e.op} at ${e.place.join(':')} compares a text with a number`);
    }
    if ((e.op === 'min' || e.op === 'max') && e.arguments[0].type === 'text') {
        throw bad(`${e.op} at ${e.place.join(':')} takes no text`);
    }
}

function type_of(e, operation) {
    if (operation.type !== null) {
        return operation.type;
    }
    if ('s' === operation.kinds.at(-1)) {
        return e.arguments.at(-1).type;
    }
    return e.arguments.some((argument) => argument.type === 'double') ? 'double' : 'integer';
}

function read_constant(json, type) {
    const { value } = json;
    const good = type === 'integer' ? Number.isSafeInteger(value)
               : type === 'double' ? Number.isFinite(value)
               : typeof value === 'string' && value.length <= 1000000 && !value.includes('\0');
    if (!good) {
        throw bad(`the value of a constant is not a fitting ${type}`);
    }
    return type === 'integer' ? value + 0 : value;
}

function read_expression(json, variables, depth = 1) {
    const where = 'an expression';
    const op = text(json, 'op', where);
    const type = text(json, 'type', where);
    const e = { op, type, place: place_of(json, where), arguments: [] };
    if (!TYPES.includes(type)) {
        throw bad(`unknown type "${type}"`);
    }
    if (depth > EXPRESSION_DEPTH_MAX) {
        throw bad(`an expression is nested more than ${EXPRESSION_DEPTH_MAX} deep`);
    }
    if (op === 'constant') {
        e.value = read_constant(json, type);
        return e;
    }
    if (op === 'variable') {
        e.variable = index(json, 'variable', where, variables.length);
        if (variables[e.variable].type !== type) {
            throw bad(`variable ${e.variable} is not of type ${type}`);
        }
        return e;
    }
    const operation = Object.hasOwn(OPERATIONS, op) ? OPERATIONS[op] : undefined;
    if (operation === undefined) {
        throw bad(`unknown op "${op.slice(0, 40)}"`);
    }
    e.arguments = array(json, 'arguments', where).map((argument) =>
        read_expression(argument, variables, depth + 1));
    if (e.arguments.length < operation.least || e.arguments.length > operation.most) {
        throw bad(`${op} at ${e.place.join(':')} has ${e.arguments.length} arguments`);
    }
    check_kinds(e, operation.kinds);
    if (op === 'format') {
        check_format(e);
    }
    if (type_of(e, operation) !== type) {
        throw bad(`${op} at ${e.place.join(':')} says type ${type}, it is ` +
                  `${type_of(e, operation)}`);
    }
    return e;
}

function read_integer(json, key, script) {
    const e = read_expression(json[key], script.variables);
    if (e.type !== 'integer') {
        throw bad(`${key} at ${e.place.join(':')} is ${e.type}, it must be integer`);
    }
    return e;
}

/* ---- steps ------------------------------------------------------------------------ */

function read_target(json, script) {
    const variable = index(json, 'variable', 'a step', script.variables.length);
    if (script.variables[variable].from !== 'set') {
        throw bad(`a step sets ${script.variables[variable].name}, which is not from "set"`);
    }
    return variable;
}

function read_set(json, script, step) {
    step.variable = read_target(json, script);
    step.expression = read_expression(json.expression, script.variables);
    const { type } = script.variables[step.variable];
    if (step.expression.type !== type) {
        throw bad(`a ${step.expression.type} is set to a variable of type ${type}`);
    }
}

function read_repeat(json, script, step, at) {
    if (at.depth >= BLOCK_DEPTH_MAX) {
        throw bad(`repeat is nested more than ${BLOCK_DEPTH_MAX} deep`);
    }
    step.count = read_integer(json, 'count', script);
    step.variable = json.variable === null || json.variable === undefined
        ? null : read_target(json, script);
    if (step.variable !== null && script.variables[step.variable].type !== 'integer') {
        throw bad('the variable of a repeat is no integer');
    }
    step.steps = read_block(json, script, { ...at, depth: at.depth + 1 });
}

function read_rows(json, script, step, at) {
    if (at.depth > 0 || at.transaction || !at.load) {
        throw bad(at.load ? 'rows stands only at the top, outside of transactions'
                          : 'it holds a rows step, which only a load may');
    }
    step.table = text(json, 'table', 'a rows step');
    step.count = read_integer(json, 'count', script);
    step.chunk = read_integer(json, 'chunk', script);
    step.steps = read_block(json, script, { ...at, depth: 1, rows: true });
}

function read_step(json, script, at) {
    const kind = text(json, 'step', 'a step');
    const step = { step: kind, place: place_of(json, 'a step') };
    switch (kind) {
    case 'set':
        read_set(json, script, step);
        break;
    case 'statement':
        step.statement = index(json, 'statement', 'a step', script.statements.length);
        break;
    case 'begin_read':
    case 'begin_write':
    case 'commit':
        if ((kind === 'commit') !== at.transaction || at.rows === true) {
            throw bad('begin and commit do not pair within their block');
        }
        break;
    case 'repeat':
        read_repeat(json, script, step, at);
        break;
    case 'rows':
        read_rows(json, script, step, at);
        break;
    default:
        throw bad(`unknown step "${kind.slice(0, 40)}"`);
    }
    return step;
}

function read_block(json, script, at) {
    let transaction = at.transaction;
    const steps = array(json, 'steps', 'a block').map((item) => {
        const step = read_step(item, script, { ...at, transaction });
        transaction = step.step === 'commit' ? false
                    : step.step.startsWith('begin') ? true : transaction;
        return step;
    });
    if (transaction !== at.transaction) {
        throw bad('begin has no commit in its block');
    }
    return steps;
}

/* ---- the whole -------------------------------------------------------------------- */

function read_variable(json) {
    const name = text(json, 'name', 'a variable');
    const type = text(json, 'type', 'a variable');
    const from = text(json, 'from', 'a variable');
    if (!TYPES.includes(type) || !ORIGINS.includes(from)) {
        throw bad(`variable ${name} has type "${type}" from "${from}"`);
    }
    if (from !== 'set' && type !== 'integer') {
        throw bad(`variable ${name} is from ${from} and no integer`);
    }
    return { name, type, from };
}

function read_statement(json, variables) {
    const sql = text(json, 'sql', 'a statement');
    const parameters = array(json, 'parameters', 'a statement');
    if (!parameters.every((p) => Number.isInteger(p) && p >= 0 && p < variables.length)) {
        throw bad(`a parameter of "${sql.slice(0, 60)}" is no variable`);
    }
    if (typeof json.one !== 'boolean') {
        throw bad('"one" of a statement is neither true nor false');
    }
    return { sql, parameters, one: json.one, place: place_of(json, 'a statement') };
}

/* The script of a tree, checked; a new object. Throws a Failure of phase job. */
export function read_script(json, load = false) {
    const script = { name: text(json, 'name', 'a script') };
    script.variables = array(json, 'variables', 'a script').map(read_variable);
    script.statements = array(json, 'statements', 'a script')
        .map((statement) => read_statement(statement, script.variables));
    script.steps = read_block(json, script, { depth: 0, transaction: false, load });
    return script;
}
