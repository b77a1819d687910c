// Crawls a site into the server's local index, then searches the index.
import { createClient } from 'lectern/client';

const [site = 'https://example.com/', question = 'When is tea served?'] = process.argv.slice(2);
const client = createClient({ baseUrl: 'http://localhost:3000', apiKey: process.env.LECTERN_API_KEY });

for await (const { event, data } of client.crawl.stream({ url: site, limit: 50, options: { preset: 'spider' } })) {
  if (event === 'page') console.log(`read     ${data.page.title}  ${data.url}`);
  else if (event === 'failed') console.log(`failed   ${data.url}  ${data.error.message}`);
  else if (event === 'done') console.log(`${data.stats.done} pages, ${data.stats.tokens} tokens`);
}

// `reader` is the local index of the pages that this server has read. No external service is used.
const { pages } = await client.search(question, {
  provider: 'reader',
  site: new URL(site).hostname,
  num: 3,
  passages: 500,
});
for (const { url, passages = [] } of pages) {
  for (const { text } of passages) console.log(`\n${url}\n${text}`);
}
