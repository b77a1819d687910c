/** Derives weight, slant and pitch of fonts, mainly from their names: PDF.js exposes little of the font descriptor. */
import type { PDFPageProxy } from 'pdfjs-dist';
import type { FontFacts, Style } from './drawn-content.ts';

interface FontObject {
  readonly name?: string;
  readonly bold?: boolean;
  readonly black?: boolean;
  readonly italic?: boolean;
  readonly vertical?: boolean;
  readonly isType3Font?: boolean;
  readonly fallbackName?: string;
  readonly fontMatrix?: readonly number[];
  readonly bbox?: readonly number[];
}

/** Looks up fonts of a page by the names in its operators. */
export function fontsOf(page: PDFPageProxy): (name: string) => FontFacts {
  const known = new Map<string, FontFacts>();
  return (name) => {
    let facts = known.get(name);
    if (!facts) {
      facts = factsOf(page.commonObjs.has(name) ? page.commonObjs.get(name) : null);
      known.set(name, facts);
    }
    return facts;
  };
}

function factsOf(font: FontObject | null): FontFacts {
  const [scale = 0.001, , , up = scale] = font?.fontMatrix ?? [];
  const [, low = 0, , high = 0] = font?.bbox ?? [];
  const type3Height = Math.abs((high - low) * up) * 0.9;
  const named = styleOfName(font?.name ?? '');
  const bold = named.bold || font?.bold === true || font?.black === true;
  return {
    style: {
      ...named,
      bold,
      weight: bold ? WEIGHTS.bold : named.weight,
      italic: named.italic || font?.italic === true,
      mono: named.mono || font?.fallbackName === 'monospace',
    },
    scale,
    height: font?.isType3Font ? type3Height || Math.abs(up) * 1000 : 1,
    vertical: font?.vertical === true,
    dingbats: DINGBATS.test(font?.name ?? ''),
  };
}

/** The six letters before the name of a font of which only some glyphs are in the file (ISO 32000-1, 9.6.4). */
const SUBSET = /^[A-Z]{6}\+/;

const DINGBATS = /^(?:[A-Z]{6}\+)?(?:ITC)?ZapfDingbats/;

/** Names of bold weights, written out and abbreviated; `-Medi` is the bold of the URW fonts, `.B` of Elsevier's. */
const BOLD = /bold|black(?!adder|letter|oak)|heavy|semib|fett(?![a-z])/i;
const BOLD_ABBREVIATED = /Demi|-demi|-(?:Bd|Hv|Blk|Medi|Db)(?=[A-Z,-]|$)|[a-z0-9]\.B(?:I|[0-9]|$)/;
/** Bold of Computer Modern and its successors; the size in points follows: `CMBX12`, `SFBX1000`, `ECBX1095`. */
const BOLD_TEX = /^(?:CM(?:B|BX|BXTI|BXSL|SSBX|SSDC|MIB|BSY|DUNH)|(?:SF|EC|TC|LA)(?:BX|BI|BL|RB|XC|SX|SO|SSDC))\d/i;
/** Bold of the Karl Berry names, `ptmb8r`: supplier, family, weight, encoding. */
const BOLD_BERRY = /^[pu][a-z]{2}[bdcx](?:c|o|i|ri|rc)?\d[a-z]$/;

const ITALIC = /italic|oblique|slanted|kursiv|-it\b/i;
const ITALIC_ABBREVIATED = /[a-z-](?:Ital|Obl)(?=[A-Z,-]|$)/;
const ITALIC_TEX = /^(?:CM(?:TI|BXTI|SL|BXSL|SSI|ITT|SLTT|U)|(?:SF|EC|TC|LA)(?:TI|SL|BI|BL|SI|SO|IT|ST|CI))\d/i;

const MONO = /mono(?!type)|nimbusmon|courier|consol|menlo|monaco|typewriter|inconsolata|letter ?gothic|fixed|andale/i;
const MONO_CODE = /(?:^|[a-z-])Code(?=[A-Z-]|$)/;
const MONO_TEX = /^(?:CM(?:TT|SLTT|ITT|TCSC)|(?:SF|EC|TC|LA)(?:TT|IT|ST|TC))\d/i;

const LIGHT = /[Ll]ight|Thin(?![a-z])|Hairline|-(?:Lt|Th|UltLt)(?=[A-Z,-]|$)/;
const MEDIUM = /[Mm]edium|-Md(?=[A-Z,-]|$)/;

/** Weights on the scale of `FontWeight` (ISO 32000-1, 9.8.1). */
export const WEIGHTS = { light: 300, regular: 400, medium: 500, bold: 700 } as const;

/** The style that the name of a font states. */
export function styleOfName(fullName: string): Style {
  const name = fullName.replace(SUBSET, '');
  const bold = BOLD.test(name) || BOLD_ABBREVIATED.test(name) || BOLD_TEX.test(name) || BOLD_BERRY.test(name);
  const lesser = LIGHT.test(name) ? WEIGHTS.light : MEDIUM.test(name) ? WEIGHTS.medium : WEIGHTS.regular;
  return {
    bold,
    italic: ITALIC.test(name) || ITALIC_ABBREVIATED.test(name) || ITALIC_TEX.test(name),
    mono: MONO.test(name) || MONO_CODE.test(name) || MONO_TEX.test(name),
    weight: bold ? WEIGHTS.bold : lesser,
  };
}
