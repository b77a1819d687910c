import { describe, expect, it } from 'vitest';
import { PRESETS } from './options.ts';
import { applyPreset, PRESET_OPTIONS } from './presets.ts';
import { resolve } from './resolve.ts';

describe('a preset', () => {
  it.each(PRESETS)('%s fills what is unset', (name) => {
    expect(applyPreset({ preset: name })).toMatchObject(PRESET_OPTIONS[name]);
  });

  it('yields to options of the caller, field by field', () => {
    const options = resolve({
      preset: 'reader',
      retainLinks: 'none',
      removeOverlay: false,
      markdown: { bulletListMarker: '-' },
    });
    expect(options).toMatchObject({
      retainLinks: 'none',
      retainMedia: 'html',
      removeOverlay: false,
      detachInvisibles: true,
      markdown: { bulletListMarker: '-', linkStyle: 'referenced' },
    });
  });

  it('asks nothing of an engine that it cannot do', () => {
    const options = resolve({ preset: 'reader', engine: 'direct' });
    expect([options.detachInvisibles, options.removeOverlay]).toEqual([false, false]);
    expect([options.needsBrowser, options.prefersBrowser]).toEqual([[], []]);
  });

  it('prefers a browser, and requires one only for options of the caller', () => {
    const { needsBrowser, prefersBrowser } = resolve({ preset: 'reader', removeOverlay: true });
    expect([needsBrowser, prefersBrowser]).toEqual([['removeOverlay'], ['detachInvisibles']]);
    expect(resolve({ preset: 'reader', removeOverlay: false }).prefersBrowser).toEqual(['detachInvisibles']);
    for (const name of PRESETS) expect(resolve({ preset: name }).needsBrowser).toEqual([]);
  });

  it('can be answered as text: front matter with one kind of Markdown', () => {
    for (const name of PRESETS) expect(resolve({ preset: name }).singleFormat).toBe(true);
  });
});
