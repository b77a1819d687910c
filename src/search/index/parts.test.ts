import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutPassages } from './passages/cut-passages.ts';
import { makeSnippet } from './passages/snippet.ts';
import { guessLanguage, languageFromTag } from './text/language.ts';
import { markdownToPlainText } from './text/plain-text.ts';
import { querySlots, surfaceText, termsOf } from './text/terms.ts';
import { normalize, quantize, similarity } from './vectors/quantize.ts';
import { createShortlist } from './vectors/shortlist.ts';

const seed = 20_264;

describe('passages', () => {
  it('are cut at headings and name those above them', () => {
    const text = 'Words that fill a passage well enough to stand alone. '.repeat(5);
    const content = `# A\n\n${text}\n\n## B\n\n${text}\n\n### C\n\n${text}\n\n## D\n\n${text}\n\n\`\`\`sh\n# no heading\n\`\`\``;
    expect(cutPassages(content, 100).map(({ heading }) => heading)).toEqual(['A', 'A > B', 'A > B > C', 'A > D']);
  });

  it('contain all words of any text in order, within the size limit', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '',
        '# a',
        '## b c',
        '```',
        '~~~',
        'x '.repeat(900),
        '東京'.repeat(700),
        'y'.repeat(3_000),
        '😀'.repeat(999),
      ),
      fc.string({ maxLength: 40, unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const content = lines.join('\n');
        const cuts = cutPassages(content, 10_000);
        const squeeze = (text: string) => text.replace(/\s+/g, '');
        expect(squeeze(cuts.map(({ start, end }) => content.slice(start, end)).join(''))).toBe(squeeze(content));
        for (const [at, { start, end }] of cuts.entries()) {
          expect(end).toBeGreaterThan(start);
          if (at > 0) expect(start).toBeGreaterThanOrEqual(cuts[at - 1]!.end);
          expect(/[\ud800-\udbff]$/.test(content.slice(start, end)) && end < content.length).toBe(false);
        }
      }),
      { seed, numRuns: 200 },
    );
  });

  it('take linear time on long lines', () => {
    const content = `${'a'.repeat(1_000_000)}\n${'# '.repeat(100_000)}\n${'('.repeat(200_000)}`;
    expect(cutPassages(content, 2_000).length).toBeGreaterThan(1_000);
    expect(cutPassages(content, 7).length).toBe(7);
    expect(markdownToPlainText(`${'['.repeat(200_000)}${']('.repeat(100_000)}`).length).toBeLessThan(400_000);
  });
});

describe('terms', () => {
  it('contain only letters and digits, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('en', 'de', 'fr', 'tr', 'ar', undefined),
        (text, language) => {
          const { main, variants } = termsOf(text, language);
          for (const term of [...main, ...variants]) expect(term).toMatch(/^[\p{L}\p{M}\p{N}]+$/u);
          for (const { terms } of querySlots(text, ['en', 'de'], 100)) expect(terms.length).toBeGreaterThan(0);
        },
      ),
      { seed, numRuns: 500 },
    );
  });

  it('of a query are among those of a text with its words', () => {
    const word = fc.constantFrom(
      'running',
      'Häuser',
      'côtes',
      'книгами',
      '東京都',
      'évaluée',
      'İstanbul',
      'x2',
      'naïve',
      'Straße',
      'สวัสดี',
    );
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1 }),
        fc.constantFrom('en', 'de', 'fr', 'ru', 'tr'),
        (words, language) => {
          const { main } = termsOf(words.join(' '), language);
          for (const { terms, prefix } of querySlots(words.join(' '), [language], 100))
            expect(terms.some((term) => main.some((other) => (prefix ? other.startsWith(term) : other === term)))).toBe(
              true,
            );
        },
      ),
      { seed },
    );
  });

  it('surface texts are the unstemmed words', () => {
    expect(surfaceText('Running, Côte-d’Or: 東京都!')).toBe(' running cote d or 東京都 ');
  });
});

describe('languages', () => {
  it.each([
    ['en', 'The results of the study were not what they had been hoping for.'],
    ['de', 'Die Ergebnisse der Studie waren nicht so, wie sie es sich erhofft hatten.'],
    ['fr', 'Les résultats de cette étude ne sont pas ceux que nous avions espérés.'],
    ['es', 'Los resultados del estudio no fueron los que ellos habían esperado para el año.'],
    ['it', 'I risultati dello studio non sono quelli che si erano sperati per la fine.'],
    ['pt', 'Os resultados do estudo não foram os que eles tinham esperado para o ano.'],
    ['nl', 'De resultaten van het onderzoek waren niet wat ze er van hadden verwacht.'],
    ['ru', 'Результаты исследования были не такими, как они того ожидали от него.'],
    ['ja', '研究の結果は期待していたものではありませんでした。'],
    ['zh', '研究结果并不是他们所期望的。'],
    ['ko', '연구 결과는 그들이 기대했던 것이 아니었다.'],
    ['th', 'ผลการศึกษาไม่เป็นไปตามที่คาดหวัง'],
  ])('%s is told', (language, text) => expect(guessLanguage(text)).toBe(language));

  it('are undefined if the text is unclear', () => {
    expect(guessLanguage('')).toBeUndefined();
    expect(guessLanguage('ERR_CODE 404 XPath')).toBeUndefined();
    expect(languageFromTag('zh-CN')).toBe('zh');
    expect(languageFromTag('iw')).toBe('he');
    expect(languageFromTag('english')).toBeUndefined();
  });
});

describe('vectors', () => {
  const vectors = fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 64, maxLength: 64 });
  it('keep their similarity when quantized', () => {
    fc.assert(
      fc.property(vectors, vectors, (a, b) => {
        const [x, y] = [normalize(Float32Array.from(a)), normalize(Float32Array.from(b))];
        const cosine = x.reduce((sum, value, at) => sum + value * y[at]!, 0);
        expect(Math.abs(similarity(x, quantize(Float32Array.from(b))) - cosine)).toBeLessThan(0.05);
      }),
      { seed },
    );
  });

  it('of length zero are similar to nothing', () => {
    expect(similarity(normalize(new Float32Array(8).fill(1)), quantize(new Float32Array(8)))).toBe(0);
    expect(similarity(normalize(new Float32Array(8).fill(1)), quantize(new Float32Array(8).fill(Number.NaN)))).toBe(0);
  });

  it('of the shortlist are those whose signs agree most', () => {
    let state = seed;
    // Away from zero, where rounding could take a sign.
    const random = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      const value = state / 2 ** 32 - 0.5;
      return value + Math.sign(value) * 0.1;
    };
    const all = Array.from({ length: 3_000 }, () => Float32Array.from({ length: 70 }, random));
    const list = createShortlist(70);
    for (const [id, vector] of all.entries()) list.add(id, quantize(vector), id % 2 ? 'odd' : 'even');
    for (let id = 0; id < 3_000; id += 3) list.remove(id);
    list.remove(0);
    expect(list.size).toBe(2_000);
    const query = all[1_000]!;
    const agreeing = (id: number) => all[id]!.filter((value, at) => value > 0 === query[at]! > 0).length;
    const kept = all.map((_, id) => id).filter((id) => id % 3 !== 0);
    const best = kept
      .map(agreeing)
      .sort((a, b) => b - a)
      .slice(0, 50);
    expect(list.nearest(query, 50).map(agreeing)).toEqual(best);
    expect(list.nearest(query, 1)).toEqual([1_000]);
    expect(list.nearest(query, 5, { among: [1, 2, 3, 1_000] }).toSorted()).toEqual([1, 1_000, 2]);
    const odd = kept
      .filter((id) => id % 2)
      .map(agreeing)
      .sort((a, b) => b - a);
    const ofOdd = list.nearest(query, 50, { owners: ['odd', 'nobody'] });
    expect(ofOdd.filter((id) => id % 2 === 0)).toEqual([]);
    expect(ofOdd.map(agreeing)).toEqual(odd.slice(0, 50));
    expect(list.nearest(query, 50, { owners: ['even', 'odd'] })).toEqual(list.nearest(query, 50));
    expect(list.nearest(query, 50, { owners: ['nobody'] })).toEqual([]);
    list.clear();
    expect(list.nearest(query, 5)).toEqual([]);
  });
});

describe('snippets', () => {
  it('are single lines with the words, of limited length', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (texts) => {
        const snippet = makeSnippet(texts.join(' word '), new Set(['word']), 'en');
        expect(snippet.length).toBeLessThan(320);
        expect(snippet).not.toMatch(/\n/);
      }),
      { seed },
    );
    const text = `${'Nothing is here. '.repeat(50)}But the answer stands in this sentence. ${'Nor here. '.repeat(50)}`;
    expect(makeSnippet(`# Title\n\n${text}`, new Set(['answer', 'sentenc']), 'en')).toMatch(
      /^… .*But the answer stands in this sentence\. .* …$/,
    );
  });
});
