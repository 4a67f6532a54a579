/** The `--help` texts of every command of `basa`. */
import { runCli } from '@basa/cli';
import { markdownPage } from './markdown.ts';

export async function cliPage(): Promise<string> {
  const overview = await helpOf();
  const names = [...overview.matchAll(/^ {2}basa ((?:[\w-]+ )+) /gm)].map(([, name = '']) => name.trim());
  const sections = await Promise.all(
    names.map(async (name) => `## ${name}\n\n${block(await helpOf(...name.split(' ')))}`),
  );
  return markdownPage(
    '# Commands and their flags',
    'The page [command line](../cli.md) describes conventions, variables and exit codes.',
    block(overview),
    ...sections,
  );
}

async function helpOf(...command: readonly string[]): Promise<string> {
  let said = '';
  const stream = {
    write: (text: string): void => {
      said += text;
    },
  };
  await runCli([...command, '--help'], {}, { stdout: stream, stderr: stream });
  return said.trimEnd();
}

function block(text: string): string {
  return `\`\`\`text\n${text}\n\`\`\``;
}
