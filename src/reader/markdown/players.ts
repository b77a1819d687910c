/** Hosts of frames that play one recording, and placeholder elements that load a frame of this kind later. */
import { attribute, type Element } from '#html/node.ts';
import { isUrl } from '#is-url.ts';
import { ownValue } from '#own-value.ts';

export type MediaKind = 'Video' | 'Audio';

/** A host includes its subdomains; an entry with a path matches only URLs with a path that starts with it. */
const VIDEO_PLAYERS = `
  youtube.com/embed youtube.com/v/ youtube.com/watch youtube.com/shorts youtube-nocookie.com youtu.be player.vimeo.com vimeo.com
  dailymotion.com dai.ly player.twitch.tv clips.twitch.tv loom.com wistia.com wistia.net players.brightcove.net
  cdn.jwplayer.com content.jwplatform.com play.vidyard.com embed.vidyard.com streamable.com player.bilibili.com
  rumble.com/embed odysee.com/$/embed tiktok.com/embed tiktok.com/player facebook.com/plugins/video embed.ted.com
  archive.org/embed vk.com/video_ext.php vkvideo.ru/video_ext.php ok.ru/videoembed rutube.ru/play embed.nicovideo.jp
  v.qq.com player.youku.com iframe.videodelivery.net cloudflarestream.com player.mux.com arte.tv/player arte.tv/embeds
  cdnapisec.kaltura.com players.akamai.com fast.vidalytics.com muse.ai/embed bitchute.com/embed veoh.com/embed
  d.tube coub.com/embed gfycat.com/ifr imgur.com/embed video.ibm.com/embed playerx.livestream.com livestream.com
  kinescope.io vidio.com/embed media.ccc.de videopress.com/embed videopress.com/v player.gotolstoy.com
`;
const AUDIO_PLAYERS = `
  w.soundcloud.com open.spotify.com/embed embed.spotify.com podcasters.spotify.com anchor.fm bandcamp.com/EmbeddedPlayer
  mixcloud.com player-widget.mixcloud.com embed.podcasts.apple.com embed.music.apple.com widget.deezer.com buzzsprout.com
  html5-player.libsyn.com play.libsyn.com player.simplecast.com share.transistor.fm player.megaphone.fm playlist.megaphone.fm
  podbean.com/player-v2 podbean.com/media player.captivate.fm embed.acast.com audioboom.com iheart.com player.castos.com
  tunein.com/embed omny.fm art19.com player.fireside.fm widget.spreaker.com castbox.fm/app embed.tidal.com
  player.rss.com share.fireside.fm podigee.io player.podigee-cdn.net letscast.fm/podcasts
`;

interface Player {
  readonly path: string;
  readonly kind: MediaKind;
}

const PLAYERS = new Map<string, Player[]>();
for (const [kind, list] of [
  ['Video', VIDEO_PLAYERS],
  ['Audio', AUDIO_PLAYERS],
] as const) {
  for (const entry of list.trim().split(/\s+/)) {
    const slash = entry.indexOf('/');
    const host = slash < 0 ? entry : entry.slice(0, slash);
    const player = { kind, path: slash < 0 ? '/' : entry.slice(slash) };
    PLAYERS.set(host, [...(PLAYERS.get(host) ?? []), player]);
  }
}

/** PeerTube runs on many hosts; its players share a URL path. */
const PEERTUBE = /^\/videos\/embed\/[\w-]{8,64}$/;

/** The kind of media that a frame with this URL plays; null if the URL is not that of a known player. */
export function playerKind(url: string): MediaKind | null {
  if (!isUrl(url)) return null;
  const { hostname, pathname, protocol } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return null;
  const labels = hostname.split('.');
  for (let at = Math.max(labels.length - 5, 0); at < labels.length - 1; at++) {
    const found = PLAYERS.get(labels.slice(at).join('.'))?.find(({ path }) => pathname.startsWith(path));
    if (found) return found.kind;
  }
  return PEERTUBE.test(pathname) ? 'Video' : null;
}

/** Elements that scripts turn into a player, with the attribute that identifies the recording, and the player's URL. */
const PLACEHOLDERS: Readonly<Record<string, { readonly attribute: string; readonly playerUrl: string }>> = {
  'lite-youtube': { attribute: 'videoid', playerUrl: 'https://www.youtube.com/embed/' },
  'lite-vimeo': { attribute: 'videoid', playerUrl: 'https://player.vimeo.com/video/' },
  'lite-dailymotion': { attribute: 'videoid', playerUrl: 'https://www.dailymotion.com/embed/video/' },
  'youtube-video': { attribute: 'video-id', playerUrl: 'https://www.youtube.com/embed/' },
  'amp-youtube': { attribute: 'data-videoid', playerUrl: 'https://www.youtube.com/embed/' },
  'amp-vimeo': { attribute: 'data-videoid', playerUrl: 'https://player.vimeo.com/video/' },
  'amp-dailymotion': { attribute: 'data-videoid', playerUrl: 'https://www.dailymotion.com/embed/video/' },
  'amp-soundcloud': {
    attribute: 'data-trackid',
    playerUrl: 'https://w.soundcloud.com/player/?url=https://api.soundcloud.com/tracks/',
  },
};

export const PLAYER_PLACEHOLDERS: readonly string[] = Object.keys(PLACEHOLDERS);

/** The URL of the player that an element represents; null if the element identifies no recording. */
export function placeholderUrl(element: Element): string | null {
  const placeholder = ownValue(PLACEHOLDERS, element.name);
  const id = placeholder && attribute(element, placeholder.attribute)?.trim();
  return id && /^[\w-]{1,64}$/.test(id) ? placeholder.playerUrl + id : null;
}
