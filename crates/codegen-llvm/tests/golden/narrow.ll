define void @solum.kernel.0(ptr noalias readonly align 16 %0, ptr noalias readonly align 8 %1, i64 %2, i64 %3, ptr align 64 %4) #0 {
  %6 = alloca i8, align 1
  %7 = alloca i32, align 4
  %8 = alloca i64, align 8
  %9 = alloca i64, align 8
  %10 = alloca i64, align 8
  %11 = alloca i64, align 8
  %12 = alloca i64, align 8
  %13 = alloca i64, align 8
  %14 = alloca i64, align 8
  %15 = alloca <16 x i1>, align 2
  %16 = alloca i64, align 8
  %17 = alloca i64, align 8
  %18 = alloca i64, align 8
  %19 = alloca i64, align 8
  %20 = alloca i64, align 8
  %21 = alloca i64, align 8
  %22 = alloca i64, align 8
  %23 = alloca i64, align 8
  %24 = alloca <16 x i1>, align 2
  %25 = alloca <16 x i1>, align 2
  %26 = alloca <16 x i1>, align 2
  %27 = alloca ptr, align 8
  %28 = alloca ptr, align 8
  br label %29

29:
  %30 = load i32, ptr %1, align 4
  %31 = zext i32 %30 to i64
  %32 = getelementptr i8, ptr %1, i64 4
  %33 = load i32, ptr %32, align 4
  %34 = zext i32 %33 to i64
  %35 = getelementptr i8, ptr %1, i64 8
  %36 = load i32, ptr %35, align 4
  %37 = zext i32 %36 to i64
  %38 = getelementptr i8, ptr %1, i64 16
  %39 = load i32, ptr %38, align 4
  %40 = zext i32 %39 to i64
  %41 = getelementptr i8, ptr %1, i64 20
  %42 = load i32, ptr %41, align 4
  %43 = zext i32 %42 to i64
  %44 = getelementptr i8, ptr %1, i64 24
  %45 = load i32, ptr %44, align 4
  %46 = zext i32 %45 to i64
  %47 = getelementptr i8, ptr %1, i64 32
  %48 = load i64, ptr %47, align 8
  %49 = getelementptr i8, ptr %1, i64 40
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr i8, ptr %1, i64 48
  %52 = load i64, ptr %51, align 8
  %53 = getelementptr i8, ptr %1, i64 28
  %54 = load i32, ptr %53, align 4
  %55 = zext i32 %54 to i64
  %56 = getelementptr i8, ptr %1, i64 12
  %57 = load i32, ptr %56, align 4
  %58 = zext i32 %57 to i64
  %59 = getelementptr i8, ptr %1, i64 72
  %60 = load i64, ptr %59, align 8
  %61 = getelementptr i8, ptr %1, i64 56
  %62 = load i64, ptr %61, align 8
  %63 = getelementptr i8, ptr %4, i64 %62
  %64 = load i64, ptr %0, align 8
  %65 = getelementptr i8, ptr %4, i64 %64
  %66 = getelementptr i8, ptr %0, i64 8
  %67 = load i32, ptr %66, align 4
  %68 = add i64 %2, %3
  %69 = getelementptr i8, ptr %1, i64 80
  %70 = load ptr, ptr %69, align 8
  store i8 0, ptr %6, align 1
  %71 = icmp eq ptr %70, null
  %72 = select i1 %71, ptr %6, ptr %70
  br label %73

73:
  %74 = phi i64 [ %2, %29 ], [ %91, %90 ]
  %75 = icmp ult i64 %74, %68
  br i1 %75, label %76, label %92

76:
  %77 = load atomic i8, ptr %72 monotonic, align 1
  %78 = icmp ne i8 %77, 0
  br i1 %78, label %92, label %79

79:
  %80 = udiv i64 %74, %40
  %81 = urem i64 %74, %40
  %82 = urem i64 %80, %43
  %83 = udiv i64 %80, %43
  %84 = mul i64 %81, %31
  %85 = add i64 %84, %48
  %86 = mul i64 %82, %34
  %87 = add i64 %86, %50
  %88 = mul i64 %83, %37
  %89 = add i64 %88, %52
  br label %93

90:
  %91 = add i64 %74, 1
  br label %73

92:
  ret void

93:
  store i64 0, ptr %10, align 8
  br label %95

94:
  store i64 0, ptr %18, align 8
  br label %157

95:
  store i64 0, ptr %9, align 8
  store i64 0, ptr %14, align 8
  br label %96

96:
  store i64 0, ptr %8, align 8
  br label %97

97:
  %98 = load i64, ptr %8, align 8
  %99 = sub i64 %31, %98
  %100 = icmp uge i64 %99, 16
  br i1 %100, label %113, label %126

101:
  br label %135

102:
  %103 = load i64, ptr %9, align 8
  %104 = add i64 %103, 1
  store i64 %104, ptr %9, align 8
  %105 = load i64, ptr %9, align 8
  %106 = icmp ult i64 %105, %34
  br i1 %106, label %96, label %107

107:
  %108 = load i64, ptr %10, align 8
  %109 = add i64 %108, 1
  store i64 %109, ptr %10, align 8
  %110 = load i64, ptr %10, align 8
  %111 = icmp ult i64 %110, %37
  br i1 %111, label %95, label %112

112:
  br label %94

113:
  %114 = load i64, ptr %8, align 8
  %115 = load i64, ptr %9, align 8
  %116 = load i64, ptr %10, align 8
  %117 = mul i64 %116, %34
  %118 = add i64 %117, %115
  %119 = mul i64 %118, %31
  %120 = add i64 %119, %114
  store <16 x i1> zeroinitializer, ptr %15, align 2
  br label %128

121:
  %122 = load i64, ptr %8, align 8
  %123 = add i64 %122, 16
  store i64 %123, ptr %8, align 8
  %124 = load i64, ptr %8, align 8
  %125 = icmp ult i64 %124, %31
  br i1 %125, label %97, label %102

126:
  %127 = load i64, ptr %8, align 8
  store i64 %127, ptr %11, align 8
  store i64 %31, ptr %12, align 8
  br label %101

128:
  store <16 x i1> zeroinitializer, ptr %15, align 2
  %129 = mul i64 %114, 4
  %130 = getelementptr i8, ptr %65, i64 %129
  %131 = trunc i64 %114 to i32
  %132 = insertelement <16 x i32> poison, i32 %131, i32 0
  %133 = shufflevector <16 x i32> %132, <16 x i32> poison, <16 x i32> zeroinitializer
  %134 = add <16 x i32> %133, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  store <16 x i32> %134, ptr %130, align 4
  store i32 1, ptr %7, align 4
  br label %121

135:
  %136 = load i64, ptr %11, align 8
  %137 = load i64, ptr %9, align 8
  %138 = load i64, ptr %10, align 8
  %139 = mul i64 %138, %34
  %140 = add i64 %139, %137
  %141 = mul i64 %140, %31
  %142 = add i64 %141, %136
  br label %153

143:
  %144 = load i64, ptr %11, align 8
  %145 = add i64 %144, 1
  store i64 %145, ptr %11, align 8
  %146 = load i64, ptr %11, align 8
  %147 = load i64, ptr %12, align 8
  %148 = icmp ult i64 %146, %147
  br i1 %148, label %135, label %149

149:
  %150 = load i64, ptr %12, align 8
  store i64 %150, ptr %8, align 8
  %151 = load i64, ptr %12, align 8
  %152 = icmp ult i64 %151, %31
  br i1 %152, label %97, label %102

153:
  %154 = mul i64 %136, 4
  %155 = getelementptr i8, ptr %65, i64 %154
  %156 = trunc i64 %136 to i32
  store i32 %156, ptr %155, align 4
  store i32 1, ptr %7, align 4
  br label %143

157:
  store i64 0, ptr %17, align 8
  store i64 0, ptr %23, align 8
  br label %158

158:
  store i64 0, ptr %16, align 8
  %159 = load i64, ptr %17, align 8
  %160 = load i64, ptr %18, align 8
  %161 = mul i64 %160, %34
  %162 = add i64 %161, %159
  %163 = mul i64 %162, %31
  %164 = add i64 %163, 0
  %165 = or i64 %159, %160
  %166 = icmp eq i64 %165, 0
  %167 = add i64 %31, 15
  %168 = udiv i64 %167, 16
  %169 = freeze i32 0
  %170 = freeze i32 %67
  %171 = zext i32 %169 to i64
  %172 = zext i32 %170 to i64
  %173 = icmp ult i64 %171, %172
  %174 = sub i64 %172, %171
  %175 = sub i64 %174, 1
  %176 = udiv i64 %175, 1
  %177 = call i64 @llvm.umin.i64(i64 %176, i64 %31)
  %178 = add i64 %177, 1
  %179 = select i1 %173, i64 %178, i64 0
  %180 = select i1 true, i64 %179, i64 %31
  %181 = call i64 @llvm.umin.i64(i64 %31, i64 %180)
  %182 = icmp uge i64 0, %181
  %183 = select i1 %182, i64 0, i64 0
  %184 = zext i1 %166 to i64
  %185 = select i1 %182, i64 %184, i64 %181
  %186 = call i64 @llvm.umin.i64(i64 %185, i64 %31)
  store i64 %183, ptr %16, align 8
  store i64 %186, ptr %21, align 8
  %187 = icmp ult i64 %183, %186
  br i1 %187, label %209, label %198

188:
  %189 = load i64, ptr %16, align 8
  %190 = sub i64 %31, %189
  %191 = icmp uge i64 %190, 16
  %192 = load i64, ptr %21, align 8
  %193 = load i64, ptr %16, align 8
  %194 = sub i64 %192, %193
  %195 = icmp ugt i64 %194, 4
  %196 = and i1 %191, %195
  br i1 %196, label %210, label %235

197:
  br label %263

198:
  %199 = load i64, ptr %17, align 8
  %200 = add i64 %199, 1
  store i64 %200, ptr %17, align 8
  %201 = load i64, ptr %17, align 8
  %202 = icmp ult i64 %201, %34
  br i1 %202, label %158, label %203

203:
  %204 = load i64, ptr %18, align 8
  %205 = add i64 %204, 1
  store i64 %205, ptr %18, align 8
  %206 = load i64, ptr %18, align 8
  %207 = icmp ult i64 %206, %37
  br i1 %207, label %157, label %208

208:
  br label %90

209:
  br label %188

210:
  %211 = load i64, ptr %16, align 8
  %212 = load i64, ptr %17, align 8
  %213 = load i64, ptr %18, align 8
  %214 = mul i64 %213, %34
  %215 = add i64 %214, %212
  %216 = mul i64 %215, %31
  %217 = add i64 %216, %211
  %218 = insertelement <16 x i64> poison, i64 %211, i32 0
  %219 = shufflevector <16 x i64> %218, <16 x i64> poison, <16 x i32> zeroinitializer
  %220 = add <16 x i64> %219, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %221 = trunc <16 x i64> %220 to <16 x i32>
  %222 = insertelement <16 x i32> poison, i32 %67, i32 0
  %223 = shufflevector <16 x i32> %222, <16 x i32> poison, <16 x i32> zeroinitializer
  %224 = icmp ult <16 x i32> %221, %223
  %225 = bitcast <16 x i1> %224 to i16
  %226 = icmp eq i16 %225, 0
  %227 = icmp eq i16 %225, -1
  %228 = or i1 %226, %227
  br i1 %228, label %238, label %239

229:
  %230 = load i64, ptr %16, align 8
  %231 = add i64 %230, 16
  store i64 %231, ptr %16, align 8
  %232 = load i64, ptr %16, align 8
  %233 = load i64, ptr %21, align 8
  %234 = icmp ult i64 %232, %233
  br i1 %234, label %188, label %198

235:
  %236 = load i64, ptr %16, align 8
  store i64 %236, ptr %19, align 8
  %237 = load i64, ptr %21, align 8
  store i64 %237, ptr %20, align 8
  br label %197

238:
  store <16 x i1> zeroinitializer, ptr %24, align 2
  store <16 x i1> zeroinitializer, ptr %25, align 2
  store <16 x i1> zeroinitializer, ptr %26, align 2
  br label %244

239:
  %240 = load i64, ptr %16, align 8
  store i64 %240, ptr %19, align 8
  %241 = add i64 %240, 16
  %242 = load i64, ptr %21, align 8
  %243 = call i64 @llvm.umin.i64(i64 %241, i64 %242)
  store i64 %243, ptr %20, align 8
  br label %197

244:
  store <16 x i1> zeroinitializer, ptr %24, align 2
  %245 = trunc i64 %211 to i32
  %246 = insertelement <16 x i32> poison, i32 %245, i32 0
  %247 = shufflevector <16 x i32> %246, <16 x i32> poison, <16 x i32> zeroinitializer
  %248 = add <16 x i32> %247, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %249 = insertelement <16 x i32> poison, i32 %67, i32 0
  %250 = shufflevector <16 x i32> %249, <16 x i32> poison, <16 x i32> zeroinitializer
  %251 = icmp ult <16 x i32> %248, %250
  %252 = mul i64 %211, 4
  %253 = getelementptr i8, ptr %65, i64 %252
  store ptr %253, ptr %27, align 8
  %254 = trunc i64 %211 to i32
  %255 = icmp ult i32 %254, %67
  br i1 %255, label %261, label %262

256:
  store <16 x i1> zeroinitializer, ptr %25, align 2
  %257 = load ptr, ptr %27, align 8
  %258 = insertelement <16 x i32> poison, i32 %67, i32 0
  %259 = shufflevector <16 x i32> %258, <16 x i32> poison, <16 x i32> zeroinitializer
  store <16 x i32> %259, ptr %257, align 4
  br label %260

260:
  store <16 x i1> zeroinitializer, ptr %26, align 2
  store i32 -1, ptr %7, align 4
  br label %229

261:
  br label %256

262:
  br label %260

263:
  %264 = load i64, ptr %19, align 8
  %265 = load i64, ptr %17, align 8
  %266 = load i64, ptr %18, align 8
  %267 = mul i64 %266, %34
  %268 = add i64 %267, %265
  %269 = mul i64 %268, %31
  %270 = add i64 %269, %264
  br label %282

271:
  %272 = load i64, ptr %19, align 8
  %273 = add i64 %272, 1
  store i64 %273, ptr %19, align 8
  %274 = load i64, ptr %19, align 8
  %275 = load i64, ptr %20, align 8
  %276 = icmp ult i64 %274, %275
  br i1 %276, label %263, label %277

277:
  %278 = load i64, ptr %20, align 8
  store i64 %278, ptr %16, align 8
  %279 = load i64, ptr %20, align 8
  %280 = load i64, ptr %21, align 8
  %281 = icmp ult i64 %279, %280
  br i1 %281, label %188, label %198

282:
  %283 = trunc i64 %264 to i32
  %284 = icmp ult i32 %283, %67
  %285 = mul i64 %264, 4
  %286 = getelementptr i8, ptr %65, i64 %285
  store ptr %286, ptr %28, align 8
  br i1 %284, label %290, label %291

287:
  %288 = load ptr, ptr %28, align 8
  store i32 %67, ptr %288, align 4
  br label %289

289:
  store i32 -1, ptr %7, align 4
  br label %271

290:
  br label %287

291:
  br label %289
