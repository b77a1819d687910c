/** LaTeX names of the symbols in formulas. A symbol without an entry is written unchanged. */
import { ownValue } from '#own-value.ts';

const LIST = `
α alpha|β beta|γ gamma|δ delta|ε varepsilon|ϵ epsilon|ζ zeta|η eta|θ theta|ϑ vartheta|ι iota|κ kappa|λ lambda|μ mu|µ mu
ν nu|ξ xi|π pi|ϖ varpi|ρ rho|ϱ varrho|σ sigma|ς varsigma|τ tau|υ upsilon|φ varphi|ϕ phi|χ chi|ψ psi|ω omega
Γ Gamma|Δ Delta|Θ Theta|Λ Lambda|Ξ Xi|Π Pi|Σ Sigma|Υ Upsilon|Φ Phi|Ψ Psi|Ω Omega|∆ Delta
∑ sum|∏ prod|∐ coprod|∫ int|∬ iint|∭ iiint|∮ oint|⋃ bigcup|⋂ bigcap|⨁ bigoplus|⨂ bigotimes|⋁ bigvee|⋀ bigwedge|⨆ bigsqcup
× times|÷ div|· cdot|⋅ cdot|∗ ast|⋆ star|∘ circ|∙ bullet|± pm|∓ mp|⊕ oplus|⊖ ominus|⊗ otimes|⊘ oslash|⊙ odot
∧ wedge|∨ vee|∩ cap|∪ cup|⊓ sqcap|⊔ sqcup|∖ setminus|⋈ bowtie|† dagger|‡ ddagger|⨯ times
≤ leq|≥ geq|≠ neq|≈ approx|≡ equiv|≅ cong|≃ simeq|∼ sim|∝ propto|≪ ll|≫ gg|≺ prec|≻ succ|⪯ preceq|⪰ succeq|⩽ leqslant|⩾ geqslant
≐ doteq|≜ triangleq|⊂ subset|⊃ supset|⊆ subseteq|⊇ supseteq|⊊ subsetneq|⊋ supsetneq|⊄ not\\subset|∈ in|∉ notin|∋ ni|⊥ perp|∥ parallel|∣ mid
⊢ vdash|⊣ dashv|⊨ models|⊤ top|∀ forall|∃ exists|∄ nexists|¬ neg|∴ therefore|∵ because
→ to|← leftarrow|↔ leftrightarrow|⇒ Rightarrow|⇐ Leftarrow|⇔ Leftrightarrow|↦ mapsto|⟶ longrightarrow|⟵ longleftarrow|⟷ longleftrightarrow
⟹ Longrightarrow|⟸ Longleftarrow|⟺ iff|↑ uparrow|↓ downarrow|↕ updownarrow|⇑ Uparrow|⇓ Downarrow|↗ nearrow|↘ searrow|↙ swarrow|↖ nwarrow
⇌ rightleftharpoons|⇀ rightharpoonup|⇁ rightharpoondown|↪ hookrightarrow|↩ hookleftarrow|⇝ leadsto|↝ leadsto
∂ partial|∇ nabla|∞ infty|∅ emptyset|ℏ hbar|ℓ ell|ℜ Re|ℑ Im|ℵ aleph|℘ wp|∠ angle|△ triangle|□ square|◻ square|♢ diamondsuit|′ prime|° circ
… ldots|⋯ cdots|⋮ vdots|⋱ ddots|ı imath|ȷ jmath|√ surd|∎ blacksquare
⟨ langle|⟩ rangle|〈 langle|〉 rangle|⌊ lfloor|⌋ rfloor|⌈ lceil|⌉ rceil
ℝ mathbb{R}|ℂ mathbb{C}|ℕ mathbb{N}|ℤ mathbb{Z}|ℚ mathbb{Q}|ℙ mathbb{P}|ℍ mathbb{H}|𝔼 mathbb{E}|ℒ mathcal{L}|ℱ mathcal{F}|ℋ mathcal{H}|ℬ mathcal{B}|ℰ mathcal{E}|ℳ mathcal{M}|ℛ mathcal{R}|ℐ mathcal{I}
`;

const SYMBOLS: ReadonlyMap<string, string> = new Map(
  LIST.split(/[\n|]/)
    .map((entry) => entry.trim().split(' '))
    .filter((entry): entry is [string, string] => entry.length === 2)
    .map(([sign, name]) => [sign, `\\${name}`] as const),
);

/** Characters that are special in LaTeX, and operators that consist of several characters. */
const SPECIAL: Readonly<Record<string, string>> = {
  '\\': '\\backslash',
  '{': '\\{',
  '}': '\\}',
  '%': '\\%',
  '#': '\\#',
  '&': '\\&',
  $: '\\$',
  _: '\\_',
  '−': '-',
  '‐': '-',
  '∕': '/',
  '‖': '\\|',
  '∶': ':',
  '≔': ':=',
  ',': ', ',
  '==': '==',
  '!=': '\\neq',
  '<=': '\\leq',
  '>=': '\\geq',
  '->': '\\to',
  '″': "''",
  '‴': "'''",
  // Characters that only express grouping.
  '\u2061': '',
  '\u2062': '',
  '\u2063': '',
  '\u2064': '',
  '\u200b': '',
};

const FUNCTIONS: ReadonlySet<string> = new Set(
  (
    'sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan log ln lg exp lim limsup liminf max min sup inf ' +
    'det dim ker hom deg gcd arg Pr'
  ).split(' '),
);

/** Relations and operators that are written with spaces around them for readability. */
const SPACED =
  /^(?:[=<>+]|-|:=|\\(?:leq|geq|neq|approx|equiv|in|notin|to|subset|subseteq|times|pm|mp|cdot|Rightarrow|Leftrightarrow|iff|mapsto|sim|simeq|cong|propto|ll|gg|cup|cap|mid|wedge|vee|setminus|circ|Longrightarrow|longrightarrow|leftarrow|perp))$/;

function signs(text: string): string {
  let latex = '';
  for (const sign of text) {
    const special = ownValue(SPECIAL, sign);
    const written = special ?? SYMBOLS.get(sign) ?? styledLetter(sign) ?? sign;
    if (/\\[A-Za-z]+$/.test(latex.slice(-32)) && /^[A-Za-z]/.test(written)) latex += ' ';
    latex += written;
  }
  return latex;
}

/**
 * The styles in the Unicode block Mathematical Alphanumeric Symbols. From each start there are 26 capitals, then 26
 * small letters.
 */
const ALPHABETS: readonly (readonly [number, string])[] = [
  [0x1d400, '\\mathbf'],
  [0x1d434, ''],
  [0x1d468, '\\boldsymbol'],
  [0x1d49c, '\\mathcal'],
  [0x1d4d0, '\\mathcal'],
  [0x1d504, '\\mathfrak'],
  [0x1d538, '\\mathbb'],
  [0x1d56c, '\\mathfrak'],
  [0x1d5a0, '\\mathsf'],
  [0x1d5d4, '\\mathsf'],
  [0x1d608, '\\mathsf'],
  [0x1d63c, '\\mathsf'],
  [0x1d670, '\\mathtt'],
];

function styledLetter(sign: string): string | undefined {
  const code = sign.codePointAt(0)!;
  if (code < 0x1d400 || code > 0x1d6a3) return undefined;
  for (const [start, command] of ALPHABETS) {
    if (code < start || code >= start + 52) continue;
    const at = code - start;
    const letter = String.fromCharCode(at < 26 ? 0x41 + at : 0x61 + at - 26);
    return command === '' ? letter : `${command}{${letter}}`;
  }
  return undefined;
}

/** Converts an identifier: one symbol, a function known to LaTeX, or an upright word. */
export function identifierToLatex(text: string): string {
  if (FUNCTIONS.has(text)) return `\\${text}`;
  if (/^[A-Za-z]{2,}$/.test(text)) return `\\operatorname{${text}}`;
  return signs(text);
}

export function operatorToLatex(text: string): string {
  if (FUNCTIONS.has(text)) return `\\${text}`;
  if (/^[A-Za-z]{2,}$/.test(text)) return `\\operatorname{${text}}`;
  const latex = Object.hasOwn(SPECIAL, text) ? SPECIAL[text]! : signs(text);
  return SPACED.test(latex) ? ` ${latex} ` : latex;
}

/** Escapes text for `\text{}`. */
export const textToLatex = (text: string): string =>
  text.replace(/[\\{}%#&$_]/g, (sign) => (sign === '\\' ? '\\backslash ' : `\\${sign}`));
