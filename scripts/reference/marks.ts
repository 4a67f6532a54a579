/** Parts of written pages that a program writes between two marks: nobody edits them, and their words are not counted. */
const END = '<!-- end of what is written -->';

/** The page with this text between its marks; `name` is the name in `npm run write -- <name>`. */
export function between(page: string, name: string, text: string): string {
  const mark = `<!-- written by \`npm run write -- ${name}\` -->`;
  const start = page.indexOf(mark);
  const end = page.indexOf(END, start);
  if (start < 0 || end < start) throw new Error(`the page has lost its marks for ${name}`);
  return `${page.slice(0, start + mark.length)}\n\n${text}\n\n${page.slice(end)}`;
}
