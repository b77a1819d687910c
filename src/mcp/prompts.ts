/** Two beginnings of a conversation, for clients that offer them to a person. */
import type { McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';

export function addPrompts(server: McpServer): void {
  server.registerPrompt(
    'summarize_page',
    {
      title: 'Summarize a web page',
      description: 'Reads a page and sums it up.',
      argsSchema: z.object({ url: z.string().describe('The address of the page.') }),
    },
    ({ url }) =>
      message(
        `Read ${url} with the tool read_url, to its end if it comes in pieces. Then sum it up in a few sentences, and name what it says first, what it leaves open, and when it was published if it says so.`,
      ),
  );
  server.registerPrompt(
    'research',
    {
      title: 'Answer a question from the web',
      description: 'Searches, reads what fits, and answers with sources.',
      argsSchema: z.object({ question: z.string().describe('What you want to know.') }),
    },
    ({ question }) =>
      message(
        `Answer this question: ${question}\n\nSearch with search_web, in several wordings. Read the pages that fit with read_urls. Compare what they say, prefer what is newer and closer to the source, and name the address behind each statement. Say so if they disagree or do not answer it.`,
      ),
  );
}

const message = (text: string) => ({
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
});
