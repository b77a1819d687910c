/** Embedded posts and media, as sites insert them without scripts. */
import { type Shape, shape } from '../micro-page.ts';

const tweet = (id: number, author: string, text: string, date: string) => ({
  html: `<blockquote class="twitter-tweet" data-dnt="true"><p lang="en" dir="ltr">${text}</p>&mdash; ${author} <a href="https://twitter.com/harbor/status/${id}?ref_src=twsrc">${date}</a></blockquote>\n<script async src="https://platform.twitter.com/widgets.js" charset="utf-8"></script>`,
  keep: [text, author, date, `https://twitter.com/harbor/status/${id}`],
});

const FIRST = tweet(
  1801,
  'Harbor Office (@harbor)',
  'The lock stays closed until noon, please use the north quay.',
  'May 4, 2024',
);
const SECOND = tweet(
  1802,
  'Ines Albrecht (@ines_a)',
  'Forty boats are waiting and somebody started to sing.',
  'May 5, 2024',
);

export const EMBEDS: readonly Shape[] = [
  shape('a tweet', 'A closed lock', () => FIRST),
  shape('two tweets with text between', 'What people wrote', () => ({
    html: `${FIRST.html}\n<p>An hour later a passenger answered:</p>\n${SECOND.html}`,
    keep: [...FIRST.keep, 'An hour later a passenger answered', ...SECOND.keep],
  })),
  shape('a tweet in a figure', 'The song at the quay', (names) => ({
    html: `<figure${names('embed')}><div${names('embed', 'wrapper')}>${SECOND.html}</div></figure>`,
    keep: SECOND.keep,
  })),
  shape('a post of Mastodon', 'News from the islands', () => ({
    html: `<blockquote class="mastodon-embed" data-embed-url="https://social.example/@wren/9/embed"><a href="https://social.example/@wren/9" target="_blank"><div>Post by @wren@social.example</div><div>View on Mastodon</div></a></blockquote>`,
    keep: ['Post by @wren@social.example', 'https://social.example/@wren/9'],
  })),
  shape('a post of Instagram', 'Pictures of the regatta', () => ({
    html: `<blockquote class="instagram-media" data-instgrm-permalink="https://www.instagram.com/p/Cx77/"><div><a href="https://www.instagram.com/p/Cx77/" target="_blank">View this post on Instagram</a><p><a href="https://www.instagram.com/p/Cx77/">A post shared by Regatta Club (@regatta)</a></p></div></blockquote>`,
    keep: ['A post shared by Regatta Club (@regatta)', 'https://www.instagram.com/p/Cx77/'],
  })),
  shape('a video in a frame', 'How to splice a rope', (names) => ({
    html: `<div${names('video', 'wrapper')}><iframe width="560" height="315" src="https://www.youtube.com/embed/kq3xR2" title="Splicing a rope in four minutes" allowfullscreen></iframe></div>\n<p>The film shows the last step twice.</p>`,
    keep: ['The film shows the last step twice'],
  })),
  shape('a preview of a link', 'Further away', (names) => ({
    html: `<a href="https://atlas.example/tides"${names('bookmark', 'card')}><div${names('bookmark', 'content')}><div${names('bookmark', 'title')}>Tides of the northern coast</div><div${names('bookmark', 'description')}>Tables and curves for every harbor with a gauge.</div><div${names('bookmark', 'metadata')}><span>Atlas of Water</span></div></div></a>`,
    keep: [
      'Tides of the northern coast',
      'Tables and curves for every harbor with a gauge',
      'https://atlas.example/tides',
    ],
  })),
  shape('a program of a code host', 'A script for gauges', () => ({
    html: `<div id="gist7741" class="gist"><div class="gist-file"><div class="gist-data"><table class="highlight tab-size js-file-line-container"><tbody><tr><td class="blob-num js-line-number" data-line-number="1"></td><td class="blob-code blob-code-inner js-file-line">level = read_gauge("north")</td></tr><tr><td class="blob-num js-line-number" data-line-number="2"></td><td class="blob-code blob-code-inner js-file-line">report(level, unit="cm")</td></tr></tbody></table></div><div class="gist-meta"><a href="https://gist.example/7741">gauge.py</a> hosted with love by a code host</div></div></div>`,
    keep: ['level = read_gauge("north")', 'report(level, unit="cm")'],
  })),
];
