// Calls the compat API through published clients, unmodified, in the way that their users do. Arguments: the URL of the
// compat host, an API key, and a page to read. Prints the answers as JSON, by client and call.
import { SearxngSearch } from '@langchain/community/tools/searxng_search';
import { TavilyCrawl, TavilyExtract, TavilyMap, TavilySearch } from '@langchain/tavily';
import { tavilyExtract, tavilySearch } from '@tavily/ai-sdk';
import { tavily } from '@tavily/core';
import { generateText } from 'ai';
import { MockLanguageModelV2 } from 'ai/test';
import Exa from 'exa-js';

const [, , origin, key, page] = process.argv;
const QUERY = 'how do bees find home';

async function tavilyCore() {
  const client = tavily({ apiKey: key, apiBaseURL: origin });
  const stranger = tavily({ apiKey: 'tvly-wrong', apiBaseURL: origin });
  return {
    search: await client.search(QUERY, { includeRawContent: 'markdown', maxResults: 3, includeImages: true }),
    extract: await client.extract([page, 'http://10.0.0.1/'], { extractDepth: 'basic' }),
    crawl: await client.crawl(page, { limit: 2, maxDepth: 1 }),
    map: await client.map(page, { limit: 5 }),
    'errors of a wrong key': await stranger.search(QUERY).catch(({ message }) => ({ message })),
  };
}

async function langchainTavily() {
  const settings = { tavilyApiKey: key, apiBaseUrl: origin };
  return {
    TavilySearch: await new TavilySearch({ ...settings, maxResults: 3 }).invoke({ query: QUERY }),
    TavilyExtract: await new TavilyExtract(settings).invoke({ urls: [page] }),
    TavilyCrawl: await new TavilyCrawl({ ...settings, limit: 2 }).invoke({ url: page }),
    TavilyMap: await new TavilyMap({ ...settings, limit: 5 }).invoke({ url: page }),
  };
}

async function langchainSearxng() {
  const tool = new SearxngSearch({ apiBase: origin, params: { format: 'json', numResults: 1 } });
  return { SearxngSearch: await tool.invoke(QUERY) };
}

/** The model always calls the tool; what is tested is the call of the tool. */
async function callTool(tool, input) {
  const model = new MockLanguageModelV2({
    doGenerate: async () => ({
      content: [{ type: 'tool-call', toolCallId: '1', toolName: 'tool', input: JSON.stringify(input) }],
      finishReason: 'tool-calls',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      warnings: [],
    }),
  });
  const { toolResults } = await generateText({ model, tools: { tool }, prompt: 'Search' });
  return toolResults[0].output;
}

async function aiSdk() {
  const settings = { apiKey: key, apiBaseURL: origin };
  return {
    'tavilySearch as a tool': await callTool(tavilySearch(settings), { query: QUERY }),
    'tavilyExtract as a tool': await callTool(tavilyExtract(settings), { urls: [page] }),
  };
}

async function exa() {
  const client = new Exa(key, origin);
  return {
    search: await client.search(QUERY, { numResults: 3, contents: { text: true } }),
    getContents: await client.getContents([page], { text: true }),
  };
}

process.stdout.write(
  JSON.stringify({
    tavily: await tavilyCore(),
    langchainTavily: await langchainTavily(),
    langchainSearxng: await langchainSearxng(),
    aiSdk: await aiSdk(),
    exa: await exa(),
  }),
);
