/** Puts a run of content into a page: alone, between paragraphs, or inside a site with navigation and footer. */
import { type ClassNames, classNames, STYLES, type Style } from './class-names.ts';
import { FURNITURE } from './furniture.ts';
import type { MicroPage, Part, Shape } from './micro-page.ts';
import { inEach, type Language, paragraphs } from './words.ts';

/**
 * bare: the run under a heading. prose: between paragraphs, on a page without a site. article: between paragraphs, in a
 * site. alone: in a site, without paragraphs.
 */
const FRAMES = ['bare', 'article', 'prose', 'alone'] as const;
type Frame = (typeof FRAMES)[number];

const framePages = (title: string, language: Language, body: string) =>
  `<!doctype html>\n<html lang="${language}"${language === 'ar' ? ' dir="rtl"' : ''}>\n<head><meta charset="utf-8"><title>${title}</title></head>\n<body>\n${body}\n</body>\n</html>\n`;

/** The pages of a shape: bare and in an article, and every second time between paragraphs or alone in a site. */
export function pagesOf(family: string, shapes: readonly Shape[]): MicroPage[] {
  return shapes.flatMap((shape, at) => {
    const frames: Frame[] = ['bare', 'article', at % 2 === 0 ? 'alone' : 'prose'];
    return frames.map((frame, index) => pageOf(family, shape, frame, STYLES[(at + index) % STYLES.length]!, at));
  });
}

function pageOf(family: string, shape: Shape, frame: Frame, style: Style, seed: number): MicroPage {
  const { title, language } = shape;
  const names = classNames(style);
  const run = shape.make(names);
  const around =
    frame === 'article' || frame === 'prose' ? paragraphs(2, language === 'en' ? 5 * seed : 0, language) : [];
  const [before = [], after = []] = [around.slice(0, 1), around.slice(1)];
  const content = [`<h1>${title}</h1>`, inEach('p', before), run.html, inEach('p', after)].join('\n');
  const inSite = frame === 'article' || frame === 'alone';
  const page: Part = inSite
    ? siteAround(content, style, names, language, frame === 'article')
    : { html: frame === 'prose' ? `<article>\n${content}\n</article>` : content, keep: [] };
  return {
    family,
    name: `${shape.name}, ${frame}, ${style}`,
    html: framePages(title, language, page.html),
    keep: [...around, ...run.keep],
    drop: [...(run.drop ?? []), ...(page.drop ?? [])],
  };
}

/** Styles whose names say what a part is, used with plain divisions instead of landmarks. */
const NAMED_DIVISIONS: ReadonlySet<Style> = new Set(['bem', 'hashed']);

function siteAround(content: string, style: Style, names: ClassNames, language: Language, article: boolean): Part {
  const { sections, related, relatedTitle, legal, links, invitation } = FURNITURE[language];
  const part = (name: string, inner: string) => {
    const tag = NAMED_DIVISIONS.has(style) ? 'div' : name;
    return `<${tag}${names(name === 'aside' ? 'sidebar' : name)}>\n${inner}\n</${tag}>`;
  };
  const list = (texts: readonly string[]) =>
    `<ul>\n${texts.map((text, at) => `<li><a href="/${at + 1}">${text}</a></li>`).join('\n')}\n</ul>`;
  const letter = `<div${names('newsletter')}><p>${invitation}</p><form action="/letter"><input type="email" name="mail"><button>OK</button></form></div>`;
  const html = [
    part('header', `<a href="/"${names('header', 'logo')}>Fernhill Post</a>\n${part('nav', list(sections))}`),
    part('main', article ? `<article${names('post', 'body')}>\n${content}\n</article>\n${letter}` : content),
    part('aside', `<h2>${relatedTitle}</h2>\n${list(related)}`),
    part('footer', `${list(links)}\n<p>${legal}</p>`),
  ].join('\n');
  return { html, keep: [], drop: [...sections, ...related, ...links, legal, ...(article ? [invitation] : [])] };
}
