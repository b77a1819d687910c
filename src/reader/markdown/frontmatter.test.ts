import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { frontmatter } from './frontmatter.ts';

describe('frontmatter', () => {
  it('writes the facts that have a value in order, followed by a blank line', () => {
    expect(
      frontmatter({
        warning: 'w1\nw2',
        title: 'A "title": #1',
        url: 'https://example.org/',
        description: '',
        numPages: 2,
      }),
    ).toBe('---\ntitle: "A \\"title\\": #1"\nurl: "https://example.org/"\nnumPages: "2"\nwarning: "w1\\nw2"\n---\n\n');
  });

  it('returns an empty string without facts', () => expect(frontmatter({ title: '' })).toBe(''));

  it('is valid YAML for any title', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (title) => {
        const text = frontmatter({ title: `x${title}`, lang: 'en' });
        const inner = text.slice(4, -6);
        expect(inner.split('\n')).toHaveLength(2);
        const read = parse(inner);
        expect(read.lang).toBe('en');
        expect(read.title.startsWith('x')).toBe(true);
      }),
      { seed: 20_266 },
    );
  });
});
