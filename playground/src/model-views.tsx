/** Views of model responses: similarity of texts, and ranked documents. */

import { type Fields, isRecord } from './fields.ts';
import { Scrollable } from './scrollable.tsx';

interface Vector {
  readonly index: number;
  readonly values: readonly number[];
}

const MAX_COMPARED = 12;
const MAX_NUMBERS = 8;

export function VectorsView({ body, texts }: { body: Fields; texts: readonly string[] }) {
  const entries = Array.isArray(body.data) ? body.data.filter(isRecord) : [];
  const vectors = entries.flatMap(({ embedding, index }): Vector[] =>
    Array.isArray(embedding) && typeof embedding[0] === 'number' ? [{ index: Number(index), values: embedding }] : [],
  );
  if (vectors.length === 0) return <p>These vectors are not lists of numbers; see “JSON”.</p>;
  const compared = vectors.slice(0, MAX_COMPARED);
  const name = ({ index }: Vector) => texts[index] ?? `${index}`;
  return (
    <>
      <ol class="vectors">
        {vectors.slice(0, 100).map((vector) => (
          <li key={vector.index}>
            <span class="words">{name(vector)}</span>
            <code>
              {vector.values
                .slice(0, MAX_NUMBERS)
                .map((value) => value.toFixed(3))
                .join('  ')}{' '}
              …
            </code>
            <span class="count">{vector.values.length} numbers</span>
          </li>
        ))}
      </ol>
      {compared.length > 1 && (
        <>
          <h3>Similarity</h3>
          <Scrollable class="scroll" label="Similarity of the texts">
            <table class="near">
              <thead>
                <tr>
                  <td />
                  {compared.map(({ index }) => (
                    <th key={index} scope="col">
                      {index + 1}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {compared.map((row) => (
                  <tr key={row.index}>
                    <th scope="row">
                      {row.index + 1} <span class="words">{name(row)}</span>
                    </th>
                    {compared.map((column) => {
                      const near = cosine(row.values, column.values);
                      return (
                        <td key={column.index} class={`shade-${shade(near)}`}>
                          {near.toFixed(2)}
                        </td>
                      );
                    })}
                  </tr>
                ))}
              </tbody>
            </table>
          </Scrollable>
          <p class="meaning">Cosine similarity of each pair: 1 is identical direction, 0 is unrelated.</p>
        </>
      )}
    </>
  );
}

function cosine(a: readonly number[], b: readonly number[]): number {
  let [dot, left, right] = [0, 0, 0];
  for (const [at, value] of a.entries()) {
    dot += value * (b[at] ?? 0);
    left += value * value;
    right += (b[at] ?? 0) ** 2;
  }
  return left && right ? dot / Math.sqrt(left * right) : 0;
}

/** Returns 0 to 10. The page's security policy forbids inline styles, so each shade is a class. */
const shade = (share: number): number => Math.round(Math.min(Math.max(share, 0), 1) * 10);

export function RankingView({ body, documents }: { body: Fields; documents: readonly string[] }) {
  const results = Array.isArray(body.results) ? body.results.filter(isRecord) : [];
  const scores = results.map((result) => Number(result.relevance_score ?? result.score ?? 0));
  const [most, least] = [Math.max(...scores, 0), Math.min(...scores, 0)];
  return (
    <ol class="ranking">
      {results.map((result, place) => (
        <li key={Number(result.index)}>
          <span class="words">{documents[Number(result.index)] ?? `document ${result.index}`}</span>
          <meter min={least} max={most || 1} value={scores[place]} aria-label="Score" />
          <span class="score">{scores[place]!.toFixed(4)}</span>
        </li>
      ))}
    </ol>
  );
}
