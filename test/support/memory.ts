/** Memory use of a process and all its descendants. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

/** Sampling interval. Reading the memory share of each process takes a while. */
const SAMPLE_MS = 150;

export interface MemoryWatch {
  /** Stops sampling. Returns the peak growth since the start, in bytes. */
  stop(): number;
}

/** Samples the memory of a process tree until `stop`. */
export function watchTree(root: number): MemoryWatch {
  const before = treeBytes(root);
  let peak = before;
  const sample = () => {
    peak = Math.max(peak, treeBytes(root));
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      sample();
      return peak - before;
    },
  };
}

/**
 * Adds up the proportional set size (PSS) of all processes. Uses the resident set size (RSS) where PSS is not readable.
 */
export function treeBytes(root: number): number {
  return treeOf(root).reduce((sum, pid) => sum + bytesOf(pid), 0);
}

/** The process and all its descendants. */
export function treeOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = text(`/proc/${name}/stat`);
    // The second field, in parentheses, may contain any character (proc_pid_stat(5)).
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    const siblings = children.get(parent);
    if (siblings) siblings.push(Number(name));
    else children.set(parent, [Number(name)]);
  }
  const tree = [root];
  for (let at = 0; at < tree.length; at++) tree.push(...(children.get(tree[at]!) ?? []));
  return tree;
}

function bytesOf(pid: number): number {
  const pss = /^Pss:\s+(\d+) kB/m.exec(text(`/proc/${pid}/smaps_rollup`))?.[1];
  const kilobytes = pss ?? /^VmRSS:\s+(\d+) kB/m.exec(text(`/proc/${pid}/status`))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

function text(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
