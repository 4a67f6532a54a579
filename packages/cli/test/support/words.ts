/** The words of a command as a person types it: words`task show ${name} --json`. A value stays one word, whatever is in it. */
export function words(texts: TemplateStringsArray, ...values: readonly string[]): readonly string[] {
  let used = 0;
  const typed = texts.join('\0').trim().split(/\s+/);
  return typed.map((word) => word.replaceAll('\0', () => values[used++] ?? ''));
}
