/** The name under which the browser keeps the API key, for this tab only. */
export const KEY_STORE = 'lectern.apiKey';
