/** What a process and all that it has started take of the machine's memory. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

const SAMPLE_MS = 50;
const SAMPLES_PER_SEARCH = 4;

export interface MemoryWatch {
  /** Ends the watch. The growth since it began, at its greatest, in bytes. */
  stop(): number;
}

/** Samples the tree under a process until it is stopped. */
export function watchTree(root: number): MemoryWatch {
  const before = treeBytes(root);
  let most = before;
  let pids = treeOf(root);
  let samples = 0;
  const sample = () => {
    // Searching all processes costs more than reading those of the tree; a new one needs longer than this to start.
    if (++samples % SAMPLES_PER_SEARCH === 0) pids = treeOf(root);
    most = Math.max(most, bytesOfAll(pids));
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      sample();
      return most - before;
    },
  };
}

/** The proportional share (PSS) of each process where it may be read, else what it holds (RSS). */
export function treeBytes(root: number): number {
  return bytesOfAll(treeOf(root));
}

const bytesOfAll = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + bytesOf(pid), 0);

/** The process and all its descendants. */
export function treeOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = text(`/proc/${name}/stat`);
    // The second field, in brackets, may hold anything (proc_pid_stat(5)).
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
  const share = /^Pss:\s+(\d+) kB/m.exec(text(`/proc/${pid}/smaps_rollup`))?.[1];
  const held = share ?? /^VmRSS:\s+(\d+) kB/m.exec(text(`/proc/${pid}/status`))?.[1];
  return Number(held ?? 0) * 1024;
}

function text(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
