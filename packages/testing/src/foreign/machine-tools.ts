// What the tests need from the machine beyond Node: found where it is installed, fetched through the ordinary package
// clients where that is possible. A tool that is missing makes its tests skip, and says so; under CI it makes them fail.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { runCommand } from './run-command.ts';

/** A tool that is there, or the reason why it is not. */
export type Tool<T> = { readonly tool: T; readonly missing?: never } | { readonly tool?: never; readonly missing: string };

export const isContinuousIntegration = process.env['CI'] === 'true';

/** For the `skip` option of a test: the reason, or false when all tools are there. Throws under CI, where nothing may be missing. */
export function skipWithout(...tools: readonly Tool<unknown>[]): string | false {
  const reasons = tools.flatMap((tool) => (tool.missing === undefined ? [] : [tool.missing]));
  if (reasons.length === 0) {
    return false;
  }
  if (isContinuousIntegration) {
    throw new Error(`this test must not be skipped under CI: ${reasons.join('; ')}`);
  }
  return reasons.join('; ');
}

/** The tool, in tests that `skipWithout` lets run. */
export function needed<T>(tool: Tool<T>): T {
  if (tool.missing !== undefined) {
    throw new Error(tool.missing);
  }
  return tool.tool;
}

/** Where fetched tools are kept between runs; safe to delete. */
export function cacheDirectory(...parts: readonly string[]): string {
  const directory = join(process.env['ODRADEK_CACHE'] ?? join(homedir(), '.cache', 'odradek-tests'), ...parts);
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** The program's path, from PATH. */
export function findProgram(name: string): Tool<string> {
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(directory, name);
    if (directory !== '' && existsSync(path)) {
      return { tool: path };
    }
  }
  return { missing: `${name} is not installed` };
}

/** A program from a Debian package; root under CI installs it. */
export async function debianProgram(name: string, packageName: string): Promise<Tool<string>> {
  const found = findProgram(name);
  if (found.missing !== undefined && isContinuousIntegration && process.getuid?.() === 0) {
    await runCommand('apt-get', ['-qq', 'update'], { timeoutMs: 240_000, mayFail: true });
    await runCommand('apt-get', ['-qq', '-y', 'install', packageName], { timeoutMs: 240_000, mayFail: true });
    return findProgram(name);
  }
  return found;
}

/**
 * A directory in the cache that `make` fills. It is made beside its place and renamed, so that a half-made one is never
 * used; what it depends on (`inputs`) is part of its name.
 */
async function cachedDirectory(name: string, inputs: string, make: (directory: string) => Promise<unknown>): Promise<Tool<string>> {
  const place = join(cacheDirectory(), `${name}-${createHash('sha256').update(inputs).digest('hex').slice(0, 12)}`);
  if (existsSync(place)) {
    return { tool: place };
  }
  const making = `${place}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  try {
    await make(making);
    renameSync(making, place);
  } catch (error) {
    if (!existsSync(place)) {
      return { missing: `${name} could not be fetched or built: ${error instanceof Error ? error.message : String(error)}` };
    }
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return { tool: place };
}

/** All jars that a pom.xml asks for, as a class path. */
export async function mavenClassPath(name: string, pomPath: string): Promise<Tool<string>> {
  const maven = findProgram('mvn');
  const java = findProgram('java');
  if (maven.missing !== undefined || java.missing !== undefined) {
    return { missing: maven.missing ?? java.missing ?? '' };
  }
  const pom = readFileSync(pomPath, 'utf8');
  const directory = await cachedDirectory(name, pom, async (making) => {
    writeFileSync(join(making, 'pom.xml'), pom);
    const args = ['-q', '-B', '-ntp', 'dependency:copy-dependencies', '-DoutputDirectory=.', '-DincludeScope=runtime'];
    await runCommand(maven.tool, args, { cwd: making, timeoutMs: 300_000 });
  });
  return directory.missing === undefined ? { tool: join(directory.tool, '*') } : directory;
}

/** The class path of one Java source, compiled against `classPath`, together with that. */
export async function javaProgram(sourcePath: string, classPath: Tool<string>): Promise<Tool<string>> {
  const compiler = findProgram('javac');
  if (classPath.missing !== undefined || compiler.missing !== undefined) {
    return { missing: classPath.missing ?? compiler.missing ?? '' };
  }
  const inputs = readFileSync(sourcePath, 'utf8') + classPath.tool;
  const classes = await cachedDirectory('java-classes', inputs, (making) =>
    runCommand(compiler.tool, ['-nowarn', '-cp', classPath.tool, '-d', making, sourcePath], { timeoutMs: 120_000 }),
  );
  return classes.missing === undefined ? { tool: `${classes.tool}${delimiter}${classPath.tool}` } : classes;
}

/** The program that a Go module's main package builds. */
export async function goProgram(name: string, moduleDirectory: string): Promise<Tool<string>> {
  const go = findProgram('go');
  if (go.missing !== undefined) {
    return go;
  }
  const inputs = ['main.go', 'go.mod', 'go.sum'].map((file) => readFileSync(join(moduleDirectory, file), 'utf8')).join('');
  const directory = await cachedDirectory(name, inputs, (making) =>
    runCommand(go.tool, ['build', '-o', join(making, 'program'), '.'], { cwd: moduleDirectory, timeoutMs: 300_000 }),
  );
  return directory.missing === undefined ? { tool: join(directory.tool, 'program') } : directory;
}

/** A folder for PYTHONPATH that holds these packages, given as pip takes them. */
export async function pythonWith(name: string, packages: readonly string[]): Promise<Tool<string>> {
  const python = findProgram('python3');
  if (python.missing !== undefined) {
    return python;
  }
  // pip installs into a plain folder, which unlike a virtual environment can be renamed when it is complete.
  return cachedDirectory(`python-${name}`, packages.join(' '), (making) =>
    runCommand(python.tool, ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', '--target', making, ...packages], {
      timeoutMs: 300_000,
    }),
  );
}
