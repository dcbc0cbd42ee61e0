/* What the kernel has accounted for this process and this thread; src/measure/usage.h. A figure
 * that cannot be had is null. */
import { readFileSync } from 'node:fs';

function read_proc(path) {
    try {
        return readFileSync(path, 'latin1');
    } catch {
        return null;
    }
}

function named_number(text, name) {
    const match = text === null ? null : new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(text);
    return match === null ? null : Number(match[1]);
}

export function usage_now() {
    const usage = process.resourceUsage();
    const io = read_proc('/proc/self/io');
    return {
        cpu_user_ns: usage.userCPUTime * 1000,
        cpu_system_ns: usage.systemCPUTime * 1000,
        minor_faults: usage.minorPageFault,
        major_faults: usage.majorPageFault,
        voluntary_switches: usage.voluntaryContextSwitches,
        involuntary_switches: usage.involuntaryContextSwitches,
        read_bytes: named_number(io, 'read_bytes'),
        write_bytes: named_number(io, 'write_bytes'),
    };
}

export function usage_between(from, to) {
    const difference = {};
    for (const [key, before] of Object.entries(from)) {
        const after = to[key];
        difference[key] = before === null || after === null || after < before ? null
                                                                              : after - before;
    }
    return difference;
}

export function peak_memory_bytes() {
    const kibibytes = named_number(read_proc('/proc/self/status'), 'VmHWM');
    return kibibytes === null ? null : kibibytes * 1024;
}

/* CPU of the calling thread and its wait for one, ns. */
export function thread_usage() {
    const text = read_proc('/proc/thread-self/schedstat');
    const [ran_ns, waited_ns, slices] = text === null ? [] : text.trim().split(' ').map(Number);
    if (slices > 0) {
        return { cpu_ns: ran_ns, run_queue_ns: waited_ns };
    }
    if (typeof process.threadCpuUsage !== 'function') {
        return { cpu_ns: null, run_queue_ns: null };
    }
    const { user, system } = process.threadCpuUsage();
    return { cpu_ns: (user + system) * 1000, run_queue_ns: null };
}
