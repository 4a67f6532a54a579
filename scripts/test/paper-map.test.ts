/** docs/paper-map.md leads from the paper to the code: each name is linked to the file that declares it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPage } from '@basa/testkit/pages/snippets.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';

const page = readPage('docs/paper-map.md');
const links = [...page.matchAll(/\[`([^`]+)`\]\(\.\.\/([^)]+)\)/g)].map(([, name = '', path = '']) => ({ name, path }));
const declares = (path: string, name: string): boolean =>
  new RegExp(`^(?:export )?(?:async )?(?:function\\*?|const|class|interface|type) ${name}\\b`, 'm').test(
    readFileSync(join(ROOT, path), 'utf8'),
  );

/** The place where a name is declared now, for a person who moved it. */
function placesOf(name: string): readonly string[] {
  return ['packages', 'lab', 'conformance'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => `${folder}/${file}`)
      .filter((path) => /\/src\/.*\.ts$/.test(path) && !path.includes('node_modules') && declares(path, name)),
  );
}

it('every name on the page is declared by the file it is linked to', () => {
  expect(links.length).toBeGreaterThan(50);
  const wrong = links.flatMap(({ name, path }) => {
    if (name.endsWith('.ts')) return path.endsWith(name) ? [] : [`${name} is linked to ${path}`];
    const [declared = ''] = name.split('.');
    if (existsSync(join(ROOT, path)) && declares(path, declared)) return [];
    return [`${path} does not declare ${declared}; ${placesOf(declared).join(' and ') || 'nothing'} does`];
  });
  expect(wrong).toEqual([]);
});

it('every name without a link is one of the paper, a mode, a package, a command or a file', () => {
  const bare = page.replaceAll(/\[`[^`]*`\]\([^)]*\)/g, '').matchAll(/`([^`]+)`/g);
  const known = /^(Setup\(\)|\w+\(PK, .*\)|paper|one-shot|isFull|@basa\/[\w-]+|npm run .*)$/;
  const others = [...bare].map(([, name = '']) => name).filter((name) => !known.test(name));
  expect(others.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
});
