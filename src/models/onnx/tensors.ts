/** Builds the named input tensors of a graph from a batch. */
import type { Sequence } from './messages.ts';

/** int64 values as a row-major matrix, or one scalar if `dims` is empty. */
export interface Input {
  readonly data: BigInt64Array;
  readonly dims: readonly number[];
}

export interface GraphInput {
  readonly name: string;
  /** Number of dimensions; undefined if the graph does not declare it. */
  readonly rank: number | undefined;
}

/** Throws an Error that names an unknown input. */
export function inputsOf(
  graph: readonly GraphInput[],
  batch: readonly Sequence[],
  padId: number,
): Record<string, Input> {
  const columns = Math.max(...batch.map(({ ids }) => ids.length));
  const matrix = (value: (sequence: Sequence, at: number) => number, padding: number): Input => {
    const data = new BigInt64Array(batch.length * columns);
    if (padding !== 0) data.fill(BigInt(padding));
    for (const [row, sequence] of batch.entries())
      for (let at = 0; at < sequence.ids.length; at++) data[row * columns + at] = BigInt(value(sequence, at));
    return { data, dims: [batch.length, columns] };
  };
  const fill = ({ name, rank }: GraphInput): Input => {
    switch (name) {
      case 'input_ids':
        return matrix(({ ids }, at) => ids[at]!, padId);
      case 'attention_mask':
        return matrix(() => 1, 0);
      case 'token_type_ids':
        return matrix(({ types }, at) => types?.[at] ?? 0, 0);
      case 'position_ids':
        return matrix((_, at) => at, 0);
      case 'task_id': {
        const task = BigInt64Array.of(BigInt(batch[0]!.task ?? 0));
        return { data: task, dims: rank === 1 ? [1] : [] };
      }
      default:
        throw new Error(`the graph has the unsupported input ${name}`);
    }
  };
  return Object.fromEntries(graph.map((input) => [input.name, fill(input)]));
}
