// Answers a question from web pages, using only Lectern's tools over MCP. Usually, a language model would choose the
// steps. Here they are fixed: read the pages, split them into paragraphs, rank the paragraphs, and print the best one
// with its source.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [question = 'When is tea served?', ...urls] = process.argv.slice(2);

const client = new Client({ name: 'agent', version: '1.0.0' });
const key = process.env.LECTERN_API_KEY;
const transport = new StreamableHTTPClientTransport(new URL('http://localhost:3000/mcp'), {
  requestInit: { headers: key ? { authorization: `Bearer ${key}` } : {} },
});
await client.connect(transport);

const { tools } = await client.listTools();
console.log(`Tools: ${tools.map(({ name }) => name).join(', ')}`);

const use = async (name, args) => {
  const answer = await client.callTool({ name, arguments: args });
  const text = answer.content.map((part) => part.text ?? '').join('\n');
  if (answer.isError) throw new Error(text);
  return { text, structured: answer.structuredContent };
};

// Fetched text is enclosed in two marker lines. It is data, never instructions.
const fenced = (text) => /<<<UNTRUSTED ([0-9a-f]+)>>>\n([\s\S]*?)\n<<<END UNTRUSTED \1>>>/.exec(text)?.[2] ?? '';

const passages = [];
for (const url of urls) {
  const { text } = await use('read_url', { url, max_tokens: 4000 });
  const paragraphs = fenced(text).split(/\n{2,}/);
  passages.push(...paragraphs.filter((one) => one.length > 40).map((one) => ({ url, text: one.trim() })));
}

const { structured } = await use('rerank', { query: question, documents: passages.map(({ text }) => text), top_n: 1 });
const best = passages[structured.results[0].index];
console.log(`${best.text}\n(${best.url})`);
await client.close();
