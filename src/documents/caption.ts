/** Recognizes the captions of figures by their first words. */

const CAPTION =
  /^[\s("[]*(?:fig(?:ure|ura)?s?|abb(?:ildung)?|bild|foto|photo(?:graph)?|image|imagen|immagine|picture|illustration|chart|diagram(?:m|me)?|graph|plate|scheme|exhibit|map|afbeelding|рис(?:унок)?|图|圖|図|그림)\s?\.?\s*(?:[A-Z]?\d|[IVX]+\b|[A-Z]\b)/iu;
const MAX_CAPTION = 1_500;

export const isCaption = (text: string): boolean => text.length <= MAX_CAPTION && CAPTION.test(text);
