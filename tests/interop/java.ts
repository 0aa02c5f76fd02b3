// Java: the newest client and Kafka's own tools, and the client of 2016, each from Maven.

import { fileURLToPath } from 'node:url';
import {
  type CommandOptions,
  type CommandResult,
  findProgram,
  javaProgram,
  mavenClassPath,
  needed,
  runCommand,
  type Tool,
} from '@odradek/testing';

export const javaSource = (name: string): string => fileURLToPath(new URL(`java/${name}`, import.meta.url));

export const java = findProgram('java');

/** The class path of Apache Kafka's command-line tools. */
export function kafkaTools(): Promise<Tool<string>> {
  return mavenClassPath('java-modern', javaSource('modern/pom.xml'));
}

export async function modernClient(): Promise<Tool<string>> {
  return javaProgram(javaSource('modern/ModernClient.java'), await kafkaTools());
}

export async function legacyClient(): Promise<Tool<string>> {
  return javaProgram(javaSource('legacy/LegacyClient.java'), await mavenClassPath('java-legacy', javaSource('legacy/pom.xml')));
}

/** Runs a main class. These programs are short: they gain nothing from the second compiler and a parallel collector. */
export function runJava(
  classPath: string,
  mainClass: string,
  args: readonly string[],
  options?: CommandOptions,
): Promise<CommandResult> {
  const flags = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto', '-Xmx256m', '-cp', classPath];
  return runCommand(needed(java), [...flags, mainClass, ...args], options);
}
