/** What to read: a URL, or the HTML after `raw:`. */
const RAW = /^raw:(?:\/\/)?/;

export const targetOf = (url: string): Readonly<Record<string, string>> =>
  RAW.test(url) ? { html: url.replace(RAW, '') } : { url };
