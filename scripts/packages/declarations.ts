/** What a package's declarations say about its entries: every exported name, and every name these are made of. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type ModuleExportName, type Node, type Program, parseSync, type Statement, Visitor } from 'oxc-parser';

/** Where a name is declared: in a file of the package, or by another package. */
export interface Declared {
  readonly name: string;
  /** Comment and declaration as they were built; of a foreign name, the statement that brings it. */
  readonly text: string;
}

export interface EntryDeclarations {
  readonly exported: readonly Declared[];
  /** Not exported, and a part of what is. */
  readonly inner: readonly Declared[];
}

interface DeclarationFile {
  readonly path: string;
  readonly text: string;
  readonly program: Program;
  /** Top-level declarations by name; several where a name is overloaded, or a type and a value. */
  readonly own: ReadonlyMap<string, readonly Node[]>;
  /** Names that come from elsewhere, by their name here. */
  readonly from: ReadonlyMap<string, { readonly name: string; readonly module: string }>;
}

/** `path` is the .d.ts of an entry. */
export function readEntry(path: string): EntryDeclarations {
  const files = new Map<string, DeclarationFile>();
  const open = (file: string): DeclarationFile => {
    const known = files.get(file) ?? readDeclarations(file);
    files.set(file, known);
    return known;
  };
  const entry = open(path);
  const names = [...new Set(entry.program.body.flatMap(exportedNames))];
  const exported = names.map((name) => find(open, entry, name, name));
  const taken = new Set(exported.map(keyOf));
  const inner: Found[] = [];
  for (const found of exported) collectInner(open, found, taken, inner);
  return { exported: exported.map(describe).sort(byName), inner: inner.map(describe).sort(byName) };
}

interface Found {
  /** As the entry calls it. */
  readonly name: string;
  readonly file: DeclarationFile;
  readonly nodes: readonly Node[];
  /** Of a foreign name. */
  readonly module?: string;
}

type Open = (file: string) => DeclarationFile;

const byName = (a: Declared, b: Declared): number => (a.name < b.name ? -1 : 1);
const keyOf = ({ file, nodes, module, name }: Found): string =>
  module === undefined ? `${file.path}:${nodes[0]?.start}` : `${module}:${name}`;

/** Follows a name through re-exports and imports to where it is declared. */
function find(open: Open, file: DeclarationFile, local: string, name: string): Found {
  const nodes = file.own.get(local);
  if (nodes !== undefined) return { name, file, nodes };
  const source = file.from.get(local);
  if (source === undefined) throw new Error(`${file.path}: nobody declares ${local}`);
  if (!source.module.startsWith('.')) return { name, file, nodes: [], module: source.module };
  return find(open, open(declarationsOf(resolve(dirname(file.path), source.module))), source.name, name);
}

function declarationsOf(module: string): string {
  const path = module.replace(/\.[jt]s$/, '.d.ts');
  return existsSync(path) ? path : join(module, 'index.d.ts');
}

/** Appends what a declaration names and nobody has exported, and what those name. */
function collectInner(open: Open, found: Found, taken: Set<string>, inner: Found[]): void {
  for (const name of found.nodes.flatMap((node) => namesIn(found.file, node))) {
    const next = find(open, found.file, name, name);
    if (next.module !== undefined || taken.has(keyOf(next))) continue;
    taken.add(keyOf(next));
    inner.push(next);
    collectInner(open, next, taken, inner);
  }
}

/** Names of the file that a declaration is made of; other names are global, or its own type parameters. */
function namesIn(file: DeclarationFile, node: Node): readonly string[] {
  const names = new Set<string>();
  const note = ({ start }: { readonly start: number }): void => {
    const [name = ''] = /^[\w$]+/.exec(file.text.slice(start)) ?? [];
    const isHere = start >= node.start && start < node.end;
    if (isHere && (file.own.has(name) || file.from.has(name))) names.add(name);
  };
  const visitor = new Visitor({
    TSTypeReference: ({ typeName }) => note(typeName),
    TSTypeQuery: ({ exprName }) => note(exprName),
    TSInterfaceHeritage: ({ expression }) => note(expression),
    TSClassImplements: ({ expression }) => note(expression),
    ClassDeclaration: ({ superClass }) => superClass !== null && note(superClass),
    TSPropertySignature: ({ key, computed }) => computed && note(key),
  });
  visitor.visit(file.program);
  return [...names];
}

function describe({ name, file, nodes, module }: Found): Declared {
  if (module !== undefined) return { name, text: `export { ${name} } from '${module}';` };
  return { name, text: nodes.map((node) => withComment(file, node)).join('\n') };
}

/** The declaration with the doc comment right before it. */
function withComment({ text }: DeclarationFile, { start, end }: Node): string {
  const [comment = ''] = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/.exec(text.slice(0, start)) ?? [];
  return `${comment.trimEnd()}\n${text.slice(start, end)}`.trim();
}

function readDeclarations(path: string): DeclarationFile {
  const text = readFileSync(path, 'utf8');
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`);
  const own = new Map<string, Node[]>();
  const from = new Map<string, { name: string; module: string }>();
  for (const statement of program.body) {
    for (const name of declaredNames(statement)) own.set(name, [...(own.get(name) ?? []), statement]);
    for (const [local, source] of foreignNames(statement)) from.set(local, source);
  }
  return { path, text, program, own, from };
}

/** What a statement declares here. */
function declaredNames(statement: Statement): readonly string[] {
  const declaration = 'declaration' in statement ? statement.declaration : statement;
  if (declaration === null) return [];
  if (declaration.type === 'VariableDeclaration')
    return declaration.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []));
  return 'id' in declaration && declaration.id?.type === 'Identifier' ? [declaration.id.name] : [];
}

/** What a statement brings from another module, by its name here. */
function foreignNames(statement: Statement): readonly (readonly [string, { name: string; module: string }])[] {
  if (statement.type === 'ImportDeclaration')
    return statement.specifiers.map((specifier) => {
      const name = specifier.type === 'ImportSpecifier' ? nameOf(specifier.imported) : '*';
      return [specifier.local.name, { name, module: statement.source.value }];
    });
  if (statement.type !== 'ExportNamedDeclaration' || statement.source === null) return [];
  const module = statement.source.value;
  return statement.specifiers.map(({ local, exported }) => [nameOf(exported), { name: nameOf(local), module }]);
}

function exportedNames(statement: Statement): readonly string[] {
  if (statement.type !== 'ExportNamedDeclaration') return [];
  return [...declaredNames(statement), ...statement.specifiers.map(({ exported }) => nameOf(exported))];
}

function nameOf(name: ModuleExportName): string {
  return name.type === 'Literal' ? name.value : name.name;
}
