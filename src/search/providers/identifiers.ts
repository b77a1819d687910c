/** Patterns of identifiers in queries. They take linear time. */

/** A DOI (https://www.doi.org/doi-handbook/HTML/doi-name-syntax.html), without punctuation that follows it. */
export const DOI = /\b(10\.\d{4,9}\/[^\s"<>]{1,200}[^\s"<>.,;:)\]])/;
/** An arXiv identifier (https://info.arxiv.org/help/arxiv_identifier.html), with its prefix or in the form since 2007. */
export const ARXIV_ID = /(?:\barxiv:\s?|\/abs\/|(?<![\d./]))(\d{4}\.\d{4,5}(?:v\d{1,2})?)(?![\d.])/i;
/** A PubMed identifier with its prefix. */
export const PMID = /\bpmid:?\s?(\d{1,9})\b/i;
/** An ISBN with its prefix, or thirteen digits with the prefix of books. */
export const ISBN = /\bisbn[:\s-]*([\dx-]{10,17})\b|\b97[89](?:[\s-]?\d){10}\b/i;
