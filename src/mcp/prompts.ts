/** Two prompts that clients can offer to their users. */
import type { McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';

export function addPrompts(server: McpServer): void {
  server.registerPrompt(
    'summarize_page',
    {
      title: 'Summarize a web page',
      description: 'Reads a page and summarizes it.',
      argsSchema: z.object({ url: z.string().describe('URL of the page.') }),
    },
    ({ url }) =>
      message(
        `Read ${url} with the tool read_url, to its end if it comes in parts. Then summarize it in a few sentences: its main point, the questions it leaves open, and its publication date if given.`,
      ),
  );
  server.registerPrompt(
    'research',
    {
      title: 'Answer a question from the web',
      description: 'Searches the web, reads relevant pages, and answers with sources.',
      argsSchema: z.object({ question: z.string().describe('The question to answer.') }),
    },
    ({ question }) =>
      message(
        `Answer this question: ${question}\n\nSearch with search_web, using several wordings. Read the relevant pages with read_urls. Compare them, prefer newer pages and primary sources, and cite the URL for each statement. Say so if the pages disagree or do not answer the question.`,
      ),
  );
}

const message = (text: string) => ({
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
});
