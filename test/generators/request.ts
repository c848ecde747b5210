// How orval's client sends a request: with the story's key, to its service.
let key: string | undefined;

export function use(next: string): void {
    key = next;
}

export async function request<T>(url: string, options: RequestInit): Promise<T> {
    const headers = new Headers(options.headers);
    if (key !== undefined) headers.set('Authorization', `Bearer ${key}`);
    const response = await fetch(`${process.env['STORY_URL']}${url}`, { ...options, headers });
    return { status: response.status, headers: response.headers, data: await response.json() } as T;
}
