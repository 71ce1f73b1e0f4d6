/** Pictures behind the token: fetched like everything else and shown from memory. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { refusal, send } from "./http";

export interface Picture {
  url: string | undefined;
  error: unknown;
}

export function usePicture(path: string): Picture {
  const query = useQuery({
    queryKey: ["picture", path],
    staleTime: Infinity,
    gcTime: 60_000,
    queryFn: async ({ signal }) => {
      const response = await send("GET", path, { signal });
      if (!response.ok) throw await refusal(response);
      return response.blob();
    },
  });
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!query.data) return;
    const address = URL.createObjectURL(query.data);
    setUrl(address);
    return () => URL.revokeObjectURL(address);
  }, [query.data]);
  return { url, error: query.error };
}
