/** Colours for code: comments, texts, words of the language. Just enough to read by. */

const TS_WORDS =
  'abstract as async await break case catch class const constructor continue declare default do else export extends false finally for from function get if implements import in instanceof interface keyof let new null of private protected public readonly return set static super switch this throw true try type typeof undefined unknown void while yield';

const RULES: Readonly<Record<string, RegExp>> = {
  ts: new RegExp(
    `(?<comment>//[^\\n]*|/\\*[\\s\\S]*?\\*/)|(?<text>'(?:\\\\.|[^'\\\\\\n])*'|"(?:\\\\.|[^"\\\\\\n])*"|\`(?:\\\\.|[^\`\\\\])*\`)|(?<word>\\b(?:${TS_WORDS.replaceAll(' ', '|')})\\b)`,
    'g',
  ),
  sh: /(?<comment>(?:^|(?<=\s))#[^\n]*)|(?<text>'[^']*'|"[^"]*")|(?<word>\$\{?\w+\}?)/gm,
  json: /(?<word>"(?:\\.|[^"\\])*"(?=\s*:))|(?<text>"(?:\\.|[^"\\])*")/g,
};

export function highlight(code: string, language: string): string {
  const rule = RULES[language];
  if (rule === undefined) return escapeHtml(code);
  let html = '';
  let end = 0;
  for (const match of code.matchAll(rule)) {
    const [kind = ''] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? [];
    html += `${escapeHtml(code.slice(end, match.index))}<span class="${kind}">${escapeHtml(match[0])}</span>`;
    end = match.index + match[0].length;
  }
  return html + escapeHtml(code.slice(end));
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
